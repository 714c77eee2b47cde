"""Publishes changes of windows on systems whose own events need a run loop: compares lists while someone
listens."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence

from toolcrib.bundled.desktop.backend import Window
from toolcrib.bundled.desktop.changes import Change, Changes
from toolcrib.serverkit.context import ToolFailure

PAUSE = 0.25
"""Seconds between two looks."""


class WindowWatcher:
    """Watches while there is a listener; it ends by itself."""

    def __init__(self, changes: Changes, list_windows: Callable[[], Awaitable[Sequence[Window]]]) -> None:
        self._changes = changes
        self._list = list_windows
        self._task: asyncio.Task[None] | None = None
        changes.on_listen = self.start

    def start(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._watch())

    def stop(self) -> None:
        task, self._task = self._task, None
        if task is not None and not task.get_loop().is_closed():
            task.get_loop().call_soon_threadsafe(task.cancel)

    async def _watch(self) -> None:
        before: dict[int, Window] | None = None
        while self._changes.wanted:
            with contextlib.suppress(ToolFailure):
                now = {window.id: window for window in await self._list()}
                for change in _differences(before if before is not None else now, now):
                    self._changes.publish(change)
                before = now
            await asyncio.sleep(PAUSE)


def _differences(before: dict[int, Window], now: dict[int, Window]) -> list[Change]:
    changed = [window for window in now.values() if before.get(window.id) != window]
    gone = [window for window in before.values() if window.id not in now]
    return [
        Change("window", "list" if window.id not in before or window.id not in now else "state",
               application=window.application, window=window.id)
        for window in (*changed, *gone)
    ]  # fmt: skip
