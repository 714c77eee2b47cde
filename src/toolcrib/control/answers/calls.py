"""Calls: what a tool answered, and what is written down of it."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from pydantic import ConfigDict
from typing_extensions import TypedDict

Outcome = Literal["ok", "tool_error", "invalid", "denied", "timeout", "cancelled", "unavailable", "failed"]


class CallProgress(TypedDict):
    """A tool tells how far it is."""

    progress: float
    total: float | None
    message: str | None


class CallResult(TypedDict):
    """The MCP result as the server sent it, unknown keys included."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]

    content: list[dict[str, Any]]
    isError: bool
    structuredContent: NotRequired[Any]


class CallRecorded(TypedDict):
    """A call that went through the door."""

    time: str
    tool: str
    server: str | None
    principal: str
    outcome: Outcome
    ms: float
    bytes: int
    arguments: str
    """JSON, masked and cut."""
    error: str | None
    session: str | None
    call_id: str
