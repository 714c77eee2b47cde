"""For whom a tool runs, as far as a tool in this process may care: sessions own what they start.

Who stops a call may want to know what ended with it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

session: ContextVar[str | None] = ContextVar("session", default=None)
"""The session of the caller; None where there is none, as in a process of its own."""
ended: ContextVar[Callable[[int], None] | None] = ContextVar("ended", default=None)
"""Told how many processes ended with a call that was cancelled, where somebody wants to hear of it."""
