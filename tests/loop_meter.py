"""Measures how long the event loop was held: CPU time, so that a busy machine changes nothing."""

from __future__ import annotations

import asyncio
import gc
import time
from types import TracebackType
from typing import Any

BEAT = 0.002
"""Seconds between two looks at whether the loop still turns."""
LIMIT = 0.05
"""Seconds of CPU that nothing may hold the loop for."""


class LoopMeter:
    """Measures the running loop while the block runs."""

    def __init__(self) -> None:
        self.turn = 0.0
        """The most CPU seconds that the loop's thread spent between two looks for new events."""
        self.stall = 0.0
        """The longest delay of the loop, as far as this process used the CPU meanwhile: counts other threads
        that hold the GIL."""
        self._loop: Any = None
        self._began: float | None = None
        self._beat: asyncio.TimerHandle | None = None

    def __enter__(self) -> LoopMeter:
        # The garbage collector looks at what the block makes, not at everything the test process has.
        gc.freeze()
        self._loop = asyncio.get_running_loop()
        selector = self._loop._selector
        self._select = selector.select
        selector.select = self._measured_select
        self._began = time.thread_time()
        self._schedule()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del self._loop._selector.select
        self._note_turn()
        if self._beat is not None:
            self._note_stall()
            self._beat.cancel()

    def _measured_select(self, timeout: float | None = None) -> Any:
        self._note_turn()
        events = self._select(timeout)
        self._began = time.thread_time()
        return events

    def _note_turn(self) -> None:
        if self._began is not None:
            self.turn = max(self.turn, time.thread_time() - self._began)
        self._began = None

    def _schedule(self) -> None:
        self._due = time.monotonic() + BEAT
        self._used = time.process_time()
        self._beat = self._loop.call_later(BEAT, self._on_beat)

    def _on_beat(self) -> None:
        self._note_stall()
        self._schedule()

    def _note_stall(self) -> None:
        delay = time.monotonic() - self._due
        self.stall = max(self.stall, min(delay, time.process_time() - self._used))
