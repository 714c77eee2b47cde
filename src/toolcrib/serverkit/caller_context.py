"""The caller of a tool: its session, if the tool runs in this process, and the id of an approved call.

The caller may want to know which processes ended with a cancelled call.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

session: ContextVar[str | None] = ContextVar("session", default=None)
"""The session of the caller; None if there is none, as in a separate process."""
ended: ContextVar[Callable[[int], None] | None] = ContextVar("ended", default=None)
"""Called with the number of processes that ended with a cancelled call."""

CALL_ID = "toolcrib/call"
"""The key in `_meta` of a request that describes a call for its approval, and of that call itself."""
asked_call: ContextVar[str | None] = ContextVar("asked_call", default=None)
"""In the host: the call whose server was asked what it acts on. Its request then has this id."""
call_id: ContextVar[str | None] = ContextVar("call_id", default=None)
"""In a server: the id of the call being described or made; None if no approval was needed."""
