"""What a tool may tell its caller while it runs; callable from any thread, and never in the way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
LOG_LEVELS: tuple[LogLevel, ...] = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
"""From the least to the most serious, as RFC 5424 orders them."""

OnProgress = Callable[[float, float | None, str | None], None]
OnLog = Callable[[LogLevel, object], None]


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Handed to a tool that has a parameter of this type; the parameter does not show in its schema."""

    on_progress: OnProgress = lambda done, total, message: None
    on_log: OnLog = lambda level, data: None

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Say how far the work is; `done` must grow from one report to the next."""
        self.on_progress(done, total, message)

    def log(self, level: LogLevel, data: object) -> None:
        """Say something worth keeping; `data` is any JSON value."""
        self.on_log(level, data)

    def for_thread(self, loop: asyncio.AbstractEventLoop) -> ToolContext:
        """The same, for use outside the event loop's thread; the order of reports is kept."""
        return ToolContext(
            on_progress=lambda *report: _hop(loop, self.on_progress, *report),
            on_log=lambda *report: _hop(loop, self.on_log, *report),
        )


def _hop(loop: asyncio.AbstractEventLoop, function: Callable[..., None], *arguments: object) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(function, *arguments)
