"""The caller of a tool that runs in this process: sessions own what they start.

The caller may want to know which processes ended with a cancelled call.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

session: ContextVar[str | None] = ContextVar("session", default=None)
"""The session of the caller; None if there is none, as in a separate process."""
ended: ContextVar[Callable[[int], None] | None] = ContextVar("ended", default=None)
"""Called with the number of processes that ended with a cancelled call."""
