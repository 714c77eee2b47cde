"""What was copied while the server runs, without what password managers have marked."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
from collections import deque
from dataclasses import dataclass

from toolcrib.bundled.desktop.backend import Backend, ClipboardContent
from toolcrib.bundled.desktop.clipboard_content import is_secret
from toolcrib.serverkit.context import ToolFailure

MAX_ENTRIES = 50
LARGEST_ENTRY = 8 << 20
"""Bytes; of a larger content only the type and size are kept."""
LARGEST_TOTAL = 32 << 20
WAIT = 60.0


@dataclass(frozen=True)
class HistoryEntry:
    copied: datetime.datetime
    media_type: str
    size: int
    content: ClipboardContent | None
    """None if it was too large."""
    application: int | None
    """The process that copied it."""


class ClipboardHistory:
    """The newest first; in memory only."""

    def __init__(self) -> None:
        self._entries: deque[HistoryEntry] = deque(maxlen=MAX_ENTRIES)
        self._task: asyncio.Task[None] | None = None

    @property
    def entries(self) -> list[HistoryEntry]:
        return list(self._entries)

    def start(self, backend: Backend) -> None:
        """Watch a desktop until it closes or `stop` is called."""
        self.stop()
        self._task = asyncio.get_running_loop().create_task(self._watch(backend))

    def stop(self) -> None:
        """May be called from any thread, and after the loop has ended."""
        task, self._task = self._task, None
        if task is not None and not task.done():
            with contextlib.suppress(RuntimeError):
                task.get_loop().call_soon_threadsafe(task.cancel)

    async def _watch(self, backend: Backend) -> None:
        with backend.events.listen("clipboard") as changes:
            while backend.alive:
                change = await changes.next(WAIT)
                if change is None:
                    continue
                with contextlib.suppress(ToolFailure):  # too large, or its owner has just ended
                    self._add(await backend.clipboard.read(), change.application)

    def _add(self, found: ClipboardContent | None, application: int | None) -> None:
        if found is None or is_secret(found) or not found.data or self._is_newest(found):
            return
        kept = found if len(found.data) <= LARGEST_ENTRY else None
        now = datetime.datetime.now(datetime.UTC)
        self._entries.appendleft(HistoryEntry(now, found.media_type, len(found.data), kept, application))
        self._drop_oldest()

    def _is_newest(self, found: ClipboardContent) -> bool:
        """Some programs take the clipboard several times for one copy."""
        newest = self._entries[0] if self._entries else None
        return newest is not None and newest.content is not None and newest.content.data == found.data

    def _drop_oldest(self) -> None:
        while sum(len(entry.content.data) for entry in self._entries if entry.content) > LARGEST_TOTAL:
            self._entries.pop()
