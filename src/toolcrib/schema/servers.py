"""A server's configuration with its defaults (timeouts, restarts after crashes, memory, sandbox), its states,
and its status. Bounds are in `config/entries.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal


class ServerState(StrEnum):
    """A server's state, with the same names on every surface."""

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
        """Whether the state is not about to change by itself."""
        return self is not ServerState.STARTING


Isolation = Literal["shared", "session"]
Era = Literal["modern", "legacy"]


@dataclass(frozen=True, kw_only=True)
class RestartPolicy:
    """How often a crashed server is restarted, and when to stop."""

    first_delay: float = 0.5
    longest_delay: float = 60.0
    jitter: float = 0.2
    give_up_after: int = 5
    """Failed starts within `window` seconds after which the server is only retried every few minutes."""
    window: float = 300.0
    good_after: float = 120.0
    """Seconds in `ready` after which earlier failures are forgotten."""
    enabled: bool = True


OTHER_MACHINES = "*:*"


@dataclass(frozen=True, kw_only=True)
class SandboxPolicy:
    """What a server in a sandbox may reach, besides the system's programs and its own folders."""

    readable: tuple[str, ...] = ()
    """Files and folders that it may read."""
    writable: tuple[str, ...] = ()
    """Files and folders that it may change."""
    arguments: bool = True
    """It may change the files and folders that its arguments name."""
    network: bool = True
    """By default it reaches other machines, but no service of this one."""
    hosts: tuple[str, ...] = ()
    """If any, it reaches only these: `api.example.com`, `*.example.com`, `HOST:PORT`, `*:*` (any other)."""
    shares_network: bool = False
    """It uses the network of this machine, with its local services, and can be reached."""

    @property
    def reaches_others(self) -> bool:
        """Whether it reaches every other machine."""
        return self.network and (not self.hosts or OTHER_MACHINES in self.hosts)

    unix_sockets: bool = False
    """It may open Unix sockets, such as the one of Docker; those in its folders are then reachable."""
    memory: int = 0
    """Megabytes for the data of each process; 0 for no limit."""
    processes: int = 256
    cpu: int = 0
    """Percent of one processor for all its processes; 0 for no limit."""
    disk: int = 2048
    """Megabytes for its private home and temporary files, and for each file it writes; 0 for no limit."""


@dataclass(frozen=True, kw_only=True)
class ServerEntry:
    """One entry of `mcpServers`: the keys that all types share, and all keys as written."""

    name: str
    type: str
    """The transport module that opens it: stdio, npm, python, custom, http, sse, inprocess."""
    raw: Mapping[str, Any]
    """The entry as written, unexpanded, with unknown keys."""
    enabled: bool = True
    start_timeout: float = 60.0
    call_timeout: float = 60.0
    tool_timeouts: Mapping[str, float] = field(default_factory=dict)
    """Timeouts in seconds for single tools, by original name."""
    env_allow: tuple[str, ...] = ()
    """Variables of our environment that the server may see."""
    isolation: Isolation = "shared"
    include_tools: tuple[str, ...] = ()
    """Glob patterns of original tool names; empty means all."""
    exclude_tools: tuple[str, ...] = ()
    era: Era | None = None
    """The protocol era to try first; None for the last one used, else the newer one."""
    lazy: bool = False
    """Start only when a tool is called, once a tool list is cached."""
    watch: tuple[str, ...] = ()
    """Patterns of files below its folder; the server restarts when one changes."""
    restart: RestartPolicy = field(default_factory=RestartPolicy)
    memory_warning: int = 1024
    """Megabytes above which the server counts as degraded; 0 for never."""
    memory_limit: int = 4096
    """Megabytes above which it is restarted; 0 for never."""
    sandbox: SandboxPolicy | None = None
    """None if it may do everything that the user may."""


@dataclass(frozen=True, kw_only=True)
class CachedTools:
    """The last tool list of a server, offered before the server runs."""

    server: str
    fingerprint: str
    """Of the entry it was listed under; the list is valid only for that entry."""
    protocol: str
    """The negotiated protocol version."""
    version: str | None
    """The server's own version."""
    definitions: tuple[Mapping[str, Any], ...]
    saved_at: datetime


@dataclass(frozen=True, kw_only=True)
class ServerStatus:
    """A server's status; the `--json` of `toolcrib servers` has these keys."""

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
    """The server's own version."""
    tools: int = 0
    last_connected: str | None = None
    """ISO 8601, UTC."""
    restarts: int = 0
    retry_at: str | None = None
    junk_lines: int = 0
    """Lines on stdout that were not protocol messages."""
    stale_tools: bool = False
    """The tool list is cached and not from this connection."""
    unresponsive: bool = False
    """It did not answer the last health check; its tools are not offered to models."""
    needs: str = ""
    """What only the user can provide, as one noun such as `account`; the state is then `needs-config`."""
    last_failure: str | None = None
    """When and why it last failed since the host started."""
