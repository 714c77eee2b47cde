"""The host and its servers at a glance."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from toolcrib.control.answers.policy import Mode
from toolcrib.control.answers.servers import State

SourceKind = Literal["npm", "pypi", "folder", "bundle", "command", "address", "in process"]


class HostCounts(TypedDict):
    """What the rail and the status line say."""

    servers: int
    up: int
    trouble: int
    """Failed, tried again, or slow."""
    off: int
    needs_you: int
    tools: int
    calls_running: int
    chats: int


class Today(TypedDict):
    """What models took since midnight; the cost in dollars, None where no price is known."""

    tokens: int
    input: int
    output: int
    cost: float | None


class HostInfo(TypedDict):
    """The host that answers."""

    version: str
    pid: int
    home: str
    user_home: str
    """The person's own folder, which pages write as `~`."""
    address: str | None
    """Where the page is; None where none is served."""
    gateway: str | None
    """Where MCP clients connect."""
    started: str
    config: str
    log: str
    switched_on: bool
    mode: Mode
    model: str | None
    counts: HostCounts
    today: Today


class ServerSource(TypedDict):
    """Where a server comes from; `text` is a package, a program, a folder or an address."""

    kind: SourceKind
    text: str
    version: str | None
    imported_from: str
    """The other host whose config it came from, where that is known."""


class CallBar(TypedDict):
    """One hour of calls."""

    calls: int
    failed: int


class ServerGlance(TypedDict):
    """A server as a list shows it."""

    name: str
    type: str
    enabled: bool
    state: State
    reason: str
    hint: str
    retry_at: str | None
    since: str | None
    """When it came into this state."""
    up_since: str | None
    pid: int | None
    version: str | None
    restarts: int
    attempt: int | None
    """The try that comes next, of `attempts`, while it is tried again."""
    attempts: int | None
    source: ServerSource
    newest: str | None
    """A newer version that was seen when somebody looked; None where none is known."""
    touches: list[str]
    """Folders and files that its arguments name."""
    tools: int
    tokens: int | None
    """What its tools cost in a prompt; None while they are not known."""
    held: list[str]
    """Tools whose definitions changed, by their own names."""
    missing: list[str]
    """Secrets that it refers to and that are not stored, and variables that are neither set nor stored."""
    bars: list[CallBar]
    """The last 24 hours, the oldest first."""
    typical_ms: float | None
    in_flight: int
    stale_tools: bool
    junk_lines: int
    last_failure: str | None


class ServerFacts(TypedDict):
    """What is measured or counted only when somebody looks at one server."""

    name: str
    memory: int | None
    """Bytes that its processes hold; None where nobody can tell, or none runs."""
    last_used: str | None
    calls_today: int
    failed_today: int


class BuiltIn(TypedDict):
    """Tools that need no server."""

    name: str
    tools: int
    note: str


class ConfigTrouble(TypedDict):
    """Why the last good configuration stays."""

    message: str
    line: int | None
    column: int | None


class Overview(TypedDict):
    """All servers at a glance, in the order of the file."""

    switched_on: bool
    switched_at: str | None
    """When the master switch was turned off."""
    ended: int | None
    """How many processes ended then."""
    config_error: ConfigTrouble | None
    built_in: list[BuiltIn]
    servers: list[ServerGlance]
