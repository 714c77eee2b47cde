"""What is known about a server: how it is meant to run, and how it is doing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal


class ServerState(StrEnum):
    """Where a server stands; the words are the same on every surface."""

    DISABLED = "disabled"
    STARTING = "starting"
    READY = "ready"
    DEGRADED = "degraded"
    BACKOFF = "backoff"
    FAILED = "failed"
    NEEDS_AUTH = "needs-auth"
    NEEDS_CONFIG = "needs-config"
    NEEDS_TRUST = "needs-trust"

    @property
    def settled(self) -> bool:
        """True when waiting longer will not change the state by itself soon."""
        return self is not ServerState.STARTING


Isolation = Literal["shared", "session"]
Era = Literal["modern", "legacy"]


@dataclass(frozen=True, kw_only=True)
class RestartPolicy:
    """How often a crashed server is tried again, and when to stop trying."""

    first_delay: float = 0.5
    longest_delay: float = 60.0
    jitter: float = 0.2
    give_up_after: int = 5
    """Failed starts within `window` seconds after which the server is only tried every few minutes."""
    window: float = 300.0
    good_after: float = 120.0
    """Seconds of being ready after which earlier failures are forgotten."""
    enabled: bool = True


@dataclass(frozen=True, kw_only=True)
class ServerEntry:
    """One entry of `mcpServers`: the keys that every type shares, and all keys as they stand in the file."""

    name: str
    type: str
    """Which transport module opens it: stdio, npm, python, custom, http, sse, inprocess."""
    raw: Mapping[str, Any]
    """The entry as written, unexpanded, unknown keys included."""
    enabled: bool = True
    start_timeout: float = 60.0
    call_timeout: float = 60.0
    tool_timeouts: Mapping[str, float] = field(default_factory=dict)
    """Seconds for calls of single tools, by their own names, where that is another time."""
    env_allow: tuple[str, ...] = ()
    """Names of variables of our own environment that the server may see."""
    isolation: Isolation = "shared"
    include_tools: tuple[str, ...] = ()
    """Glob patterns of original tool names; empty means all."""
    exclude_tools: tuple[str, ...] = ()
    era: Era | None = None
    """Which era of the protocol to try first; None for what it spoke last, else the newer one."""
    lazy: bool = False
    """Start only when a tool is called, once a tool list is cached."""
    watch: tuple[str, ...] = ()
    """Patterns of files below its folder; when one changes, the server is started again."""
    restart: RestartPolicy = field(default_factory=RestartPolicy)
    memory_warning: int = 1024
    """Megabytes of its processes above which the server counts as degraded; 0 for never."""
    memory_limit: int = 4096
    """Megabytes above which it is restarted; 0 for never."""


@dataclass(frozen=True, kw_only=True)
class CachedTools:
    """The last tool list of a server, kept so that it can be offered before the server runs."""

    server: str
    fingerprint: str
    """Of the entry it was listed under; another entry makes it worthless."""
    protocol: str
    """The negotiated protocol version."""
    version: str | None
    """What the server said of itself."""
    definitions: tuple[Mapping[str, Any], ...]
    saved_at: datetime


@dataclass(frozen=True, kw_only=True)
class ServerStatus:
    """A server as surfaces show it; the `--json` of `toolcrib servers` has these keys."""

    name: str
    type: str
    enabled: bool
    state: ServerState
    reason: str = ""
    hint: str = ""
    pid: int | None = None
    era: str | None = None
    """The negotiated protocol version."""
    version: str | None = None
    """What the server says of itself."""
    tools: int = 0
    last_connected: str | None = None
    """ISO 8601, UTC."""
    restarts: int = 0
    retry_at: str | None = None
    junk_lines: int = 0
    """Lines on stdout that were no protocol messages."""
    stale_tools: bool = False
    """The tool list is the last known one, not one of this connection."""
    last_failure: str | None = None
    """When and why it last failed since the host began, also when it is well again."""
