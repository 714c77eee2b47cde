"""Progress and logs of a running tool, callable from any thread; and the error that a tool raises."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from toolcrib.errors import CallFailed

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
    on_later_log: OnLog | None = None
    """Logs that may come after the call was answered; None if the client's protocol version forbids them."""

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress; `done` must grow from one report to the next."""
        self.on_progress(done, total, message)

    def log(self, level: LogLevel, data: object) -> None:
        """Log `data`, which is any JSON value."""
        self.on_log(level, data)

    def for_thread(self, loop: asyncio.AbstractEventLoop) -> ToolContext:
        """The same, for use outside the event loop's thread; the order of reports is kept."""
        return ToolContext(
            on_progress=lambda *report: _hop(loop, self.on_progress, *report),
            on_log=lambda *report: _hop(loop, self.on_log, *report),
            on_later_log=_hopping(loop, self.on_later_log),
        )


def _hopping(loop: asyncio.AbstractEventLoop, log: OnLog | None) -> OnLog | None:
    return None if log is None else lambda *report: _hop(loop, log, *report)


def _hop(loop: asyncio.AbstractEventLoop, function: Callable[..., None], *arguments: object) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(function, *arguments)


class ToolFailure(CallFailed):
    """The tool failed; the model reads the message and the hint and may try another way."""

    kind = "tool_failed"
    reason: ClassVar[str] = ""
    """A constant for programs, such as WINDOW_NOT_FOUND; if set, the result has it as structured data."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
