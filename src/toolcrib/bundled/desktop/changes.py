"""What happens on a desktop, as signals that a wait can listen to: kinds of changes (element, window, pixels,
clipboard) and how many are kept for a slow listener."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

KEPT = 256
"""Changes kept for a slow listener; older ones are dropped."""

ChangeKind = Literal["element", "window", "pixels", "clipboard"]
CHEAP: frozenset[ChangeKind] = frozenset({"clipboard"})
"""Reported by the system without being asked again and again; some listen to it as long as they run."""
ALL_KINDS: frozenset[ChangeKind] = frozenset(get_args(ChangeKind))


@dataclass(frozen=True)
class DesktopChange:
    kind: ChangeKind
    detail: str = ""
    application: int | None = None
    window: int | None = None


class Changes:
    """Publishes changes to listeners of one event loop; may be called from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._listeners: dict[asyncio.Queue[DesktopChange], frozenset[ChangeKind]] = {}
        self._kinds: frozenset[ChangeKind] = frozenset()
        """What anyone listens to; replaced as a whole, because other threads read it."""
        self.on_listen: Callable[[], None] = lambda: None
        """Called for each new listener to a costly source, which pauses while there is none."""

    @property
    def wanted(self) -> bool:
        """Whether anyone listens to a costly source."""
        return not self._kinds <= CHEAP

    def publish(self, change: DesktopChange) -> None:
        if change.kind not in self._kinds:
            return
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._deliver, change)

    @contextlib.contextmanager
    def listen(self, *kinds: ChangeKind) -> Iterator[ChangeListener]:
        """Listen to some kinds of changes, or to all."""
        queue: asyncio.Queue[DesktopChange] = asyncio.Queue(KEPT)
        self._listeners[queue] = frozenset(kinds) or ALL_KINDS
        self._count_kinds()
        if not self._listeners[queue] <= CHEAP:
            self.on_listen()
        try:
            yield ChangeListener(queue)
        finally:
            del self._listeners[queue]
            self._count_kinds()

    def _count_kinds(self) -> None:
        self._kinds = frozenset().union(*self._listeners.values())

    def _deliver(self, change: DesktopChange) -> None:
        for queue, kinds in self._listeners.items():
            if change.kind not in kinds:
                continue
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(change)


class ChangeListener:
    def __init__(self, queue: asyncio.Queue[DesktopChange]) -> None:
        self._queue = queue

    async def next(self, timeout: float) -> DesktopChange | None:
        """The next change; None if there is none in time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                return await self._queue.get()
        return None

    def take(self) -> list[DesktopChange]:
        """Those that have arrived so far."""
        return [self._queue.get_nowait() for _ in range(self._queue.qsize())]

    async def settled(self, quiet: float, timeout: float) -> None:
        """Return once nothing has changed for a moment."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                while await self.next(quiet) is not None:
                    pass
