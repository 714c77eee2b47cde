"""For whom a tool runs, as far as a tool in this process may care: sessions own what they start."""

from __future__ import annotations

from contextvars import ContextVar

session: ContextVar[str | None] = ContextVar("session", default=None)
"""The session of the caller; None where there is none, as in a process of its own."""
