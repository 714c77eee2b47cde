"""Tools, calls and their outcomes (denied, timeout, unavailable) as plain data, with the record of a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

Origin = Literal["native", "inline", "mcp"]
Identity = Literal["session", "claimed", "anonymous"]
"""A session of its own; what a client of the gateway without a session says of itself; or nothing."""
ToolResult = dict[str, Any]
"""A raw MCP `tools/call` result: content, structuredContent, isError, and anything else the server sent."""


@dataclass(frozen=True, kw_only=True)
class ToolDefinition:
    """A tool as its source describes it; `raw` is the unchanged definition with unknown fields."""

    name: str
    raw: Mapping[str, Any]

    @property
    def description(self) -> str:
        text = self.raw.get("description")
        return text if isinstance(text, str) else ""

    @property
    def input_schema(self) -> Mapping[str, Any]:
        schema = self.raw.get("inputSchema")
        return schema if isinstance(schema, Mapping) else {"type": "object"}

    @property
    def annotations(self) -> Mapping[str, Any]:
        """The server's own hints; never proof."""
        hints = self.raw.get("annotations")
        return hints if isinstance(hints, Mapping) else {}

    @cached_property
    def read_only(self) -> bool:
        return self.annotations.get("readOnlyHint") is True

    @cached_property
    def repeatable(self) -> bool:
        """Declared safe to run twice: read-only or idempotent."""
        return self.read_only or self.annotations.get("idempotentHint") is True


@dataclass(frozen=True, kw_only=True)
class DefinitionHistory:
    """When a definition was first seen and last changed, and what changed."""

    first_seen: datetime
    last_changed: datetime
    previous_hash: str | None = None
    changes: tuple[str, ...] = ()
    """Top-level parts that differ from the previous definition, such as `description`."""


UNCHECKED = "its definition is being checked"
"""Why a new tool of a long list is held at first."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A registered tool under its public name."""

    name: str
    server: str | None
    """None for native tools, which have bare names."""
    origin: Origin
    definition: ToolDefinition
    hash: str
    tokens: int
    """Estimated tokens of its definition in a prompt."""
    enabled: bool = True
    stale: bool = False
    """From a list that could not be refreshed."""
    silent: bool = False
    """Its server misses its health checks; it is not offered to models until the server answers."""
    held: bool = False
    """Its definition is not the approved one; it is disabled until the user approves it."""
    held_reason: str = ""
    """Why it is held, such as "its definition changed since it was approved"; in our own words."""
    pinned: bool = False
    """Calls run only if its definition is still the approved one."""
    launch: str = ""
    """Hash of what its server runs or connects to; another server under the same name has another one."""
    history: DefinitionHistory | None = None

    @property
    def checking(self) -> bool:
        """Whether it is held only until its definition has been checked."""
        return self.held_reason == UNCHECKED

    @property
    def in_review(self) -> bool:
        """Whether it is held until the user has reviewed it."""
        return self.held and not self.checking


@dataclass(frozen=True, kw_only=True)
class Principal:
    """On whose behalf a call is made."""

    name: str = "python"
    """The surface or client: cli, python, agent, gateway:NAME, workflow:NAME …"""
    session: str | None = None
    """The session of the agent or client, for servers with one instance for each session."""
    identity: Identity = "session"
    """How the session is known. A claimed one separates clients, but an approval cannot rely on it."""

    @property
    def owns_session(self) -> bool:
        """Whether nobody else can have the same session, so that an approval can be for it."""
        return self.session is not None and self.identity == "session"


class ToolCall(NamedTuple):
    """One call. A tuple because one is created for every call, ten times as fast."""

    id: str
    tool: Tool
    arguments: Mapping[str, Any]
    principal: Principal
    timeout: float | None = None


Outcome = Literal["ok", "tool_error", "invalid", "denied", "timeout", "cancelled", "unavailable", "failed"]


@dataclass(frozen=True, kw_only=True)
class CallUnderWay:
    """A running call; secrets in its arguments are masked."""

    id: str
    tool: str
    server: str | None
    principal: str
    session: str | None
    time: datetime
    arguments: str
    extra: Mapping[str, Any] = field(default_factory=dict)
    """The gate's decision, once made."""
    began: datetime | None = None
    """When its tool was started; None while it waits for a decision."""


class CallRecord(NamedTuple):
    """The record of a call; secrets in its arguments are masked. A tuple, as above."""

    time: datetime
    tool: str
    server: str | None
    principal: str
    outcome: Outcome
    ms: float
    """How long the tool ran; 0 if it did not. Waiting for an approval is not counted."""
    bytes: int
    arguments: str = "{}"
    """JSON, masked and cut."""
    error: str | None = None
    session: str | None = None
    call_id: str = ""
    extra: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Reason:
    """A part of a tool that matches a question."""

    field: str
    """name, server, description, parameters, parameter descriptions; `exact name` for a full name, `meaning`
    for similarity beyond words."""
    terms: tuple[str, ...]
    """Words of the question, as written."""
    score: float
    """Its share of the tool's score."""
