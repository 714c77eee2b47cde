"""Decides whether a call may run. Until there are rules, every call may."""

from __future__ import annotations

from toolcrib.schema.tools import ToolCall
from toolcrib.tools.ports import Decision

_ALLOWED = Decision(allowed=True)


class AllowAll:
    """A gate that stands open."""

    async def check(self, call: ToolCall) -> Decision:
        """Yes."""
        return _ALLOWED
