"""The host and its servers at a glance."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from toolcrib.operations.results.servers import State
from toolcrib.schema.approvals import Mode

SourceKind = Literal["npm", "pypi", "folder", "bundle", "command", "address", "in process"]


class HostCounts(TypedDict):
    """Counts for the navigation and the status line."""

    servers: int
    up: int
    trouble: int
    """Failed, retrying, or slow."""
    off: int
    needs_you: int
    tools: int
    unsaved: int
    """Records and messages that wait because the database cannot be written."""
    lost: int
    """Records and messages that could not be stored."""
    calls_running: int
    chats: int


class Today(TypedDict):
    """Tokens used since midnight; `cost` is in dollars, None if no price is known."""

    tokens: int
    input: int
    output: int
    cost: float | None


class HostInfo(TypedDict):
    """The running host."""

    version: str
    pid: int
    home: str
    user_home: str
    """The user's home folder, shown as `~`."""
    address: str | None
    """The address of the web page; None if it is not served."""
    gateway: str | None
    """The address for MCP clients."""
    started: str
    config: str
    log: str
    switched_on: bool
    mode: Mode
    model: str | None
    counts: HostCounts
    today: Today


class ServerSource(TypedDict):
    """The origin of a server; `text` is a package, a program, a folder or an address."""

    kind: SourceKind
    text: str
    version: str | None
    imported_from: str
    """The host whose config file it was imported from, if known."""


class CallBar(TypedDict):
    """The calls of one hour."""

    calls: int
    failed: int


class HeldGlance(TypedDict):
    """A tool that is held for review, by its own name, and why."""

    tool: str
    reason: str


class ServerGlance(TypedDict):
    """A server in a list."""

    name: str
    type: str
    enabled: bool
    state: State
    reason: str
    hint: str
    needs: str
    """What only the user can provide, such as `account` or `display`."""
    retry_at: str | None
    since: str | None
    """When its state last changed."""
    up_since: str | None
    pid: int | None
    version: str | None
    restarts: int
    attempt: int | None
    """The number of the next retry, of `attempts`, while it is being retried."""
    attempts: int | None
    source: ServerSource
    newest: str | None
    """A newer version found by the last update check; None if there is none."""
    touches: list[str]
    """Folders and files named in its arguments."""
    tools: int
    tokens: int | None
    """Tokens of its tool definitions in a prompt; None if unknown."""
    held: list[HeldGlance]
    """Tools that are held for review."""
    checking: int
    """Tools that are held until they have been checked."""
    missing: list[str]
    """Secrets it refers to that are not stored, and variables that are neither set nor stored."""
    bars: list[CallBar]
    """The last 24 hours, oldest first."""
    typical_ms: float | None
    in_flight: int
    stale_tools: bool
    junk_lines: int
    last_failure: str | None


class ServerFacts(TypedDict):
    """Details measured on request for a single server."""

    name: str
    memory: int | None
    """Memory of its processes in bytes; None if unknown or none is running."""
    last_used: str | None
    calls_today: int
    failed_today: int


class BuiltIn(TypedDict):
    """A group of tools that need no server."""

    name: str
    tools: int
    note: str


class ConfigTrouble(TypedDict):
    """Why the previous configuration is still used."""

    message: str
    line: int | None
    column: int | None


class Overview(TypedDict):
    """All servers, in the order of the config file."""

    switched_on: bool
    switched_at: str | None
    """When everything was switched off."""
    ended: int | None
    """How many processes were ended then."""
    config_error: ConfigTrouble | None
    built_in: list[BuiltIn]
    servers: list[ServerGlance]
