"""Servers: state, tests, trust and sign-in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NotRequired, final

from typing_extensions import TypedDict

from toolcrib.config.review import Difference
from toolcrib.host import Host
from toolcrib.schema.failures import Failure
from toolcrib.schema.servers import ServerStatus
from toolcrib.schema.setups import Remedy
from toolcrib.servers.traffic import RecordedMessage
from toolcrib.servers.trial import StepResult
from toolcrib.tools.caller import ServerCalls

State = Literal[
    "disabled",
    "starting",
    "ready",
    "degraded",
    "backoff",
    "failed",
    "needs-auth",
    "needs-config",
    "needs-trust",
]


@dataclass(frozen=True, kw_only=True)
class Server(ServerStatus):
    """A server; `reason` says why it is in its state, `hint` what to do."""

    held: int
    """Tools that are held for review; they are among `tools`."""
    checking: int
    """Tools that are held until they have been checked."""
    calls: ServerCalls


class Switched(TypedDict):
    """A server that was switched on or off."""

    name: str
    enabled: bool
    server: Server | None
    """None if no host is running."""


class MasterSwitch(TypedDict):
    """Whether servers may run at all."""

    enabled: bool


class ServerChecked(TypedDict):
    """A configured server; `type` is None if its entry is broken."""

    server: str
    type: str | None


class LogPart(TypedDict):
    """Lines of a server's log, oldest first: what it wrote to stderr, and what happened to it."""

    lines: list[str]
    times: list[str | None]
    """When each was written; null for lines of versions before this was recorded."""
    events: list[int]
    """The positions of the lines that tell what happened to the server, such as "Started"."""


class LogLines(LogPart):
    server: str


class TrafficState(TypedDict):
    server: str
    recording: bool


class ServerTraffic(TrafficState):
    oldest: int
    """The number of the first message that is kept, or of the next one if none is."""
    skipped: int
    """Messages that came too fast to be kept."""
    messages: list[RecordedMessage]


@final
class LogLine(TypedDict):
    line: str
    time: str | None
    is_event: bool


@final
class LogBatch(LogPart):
    pass


@dataclass(frozen=True, kw_only=True)
class TrialRemedy(Remedy):
    """The option to reinstall the server with."""

    command: str


class Trial(TypedDict):
    """The test of a server: a second instance is started, step by step."""

    ok: bool
    steps: list[StepResult]
    review: list[str]
    """Unclear parts of its tool descriptions."""
    tools: int
    held: list[str]
    """Tools that are held for review: they cannot be called before the user approves them."""
    error: NotRequired[Failure]
    remedy: NotRequired[TrialRemedy]


class HeldTool(TypedDict):
    """A tool that cannot be called, for example because it changed since it was approved."""

    tool: str
    reason: str
    hash: str
    approved_hash: str | None
    approved_at: str | None
    changed: dict[str, Difference]
    findings: list[str]


class TrustShown(TypedDict):
    """The program or address of a server; the user approves its `mark`, which identifies exactly this."""

    name: str
    trusted: bool
    launch: dict[str, Any]
    changed: dict[str, Difference]
    remarks: list[str]
    tools: list[HeldTool]
    mark: str
    server: Server | None


class TrustAnswer(TypedDict):
    """The requested servers, or all that need approval."""

    servers: list[TrustShown]


class SignInPage(TypedDict):
    """The address where the user signs in, and the issuer to whom it belongs."""

    open: str
    issuer: str


class SignedInTo(TypedDict):
    name: str
    issuer: str
    scope: str | None
    expires_in: int | None
    renews: bool
    server: Server | None


class SignedOutOf(TypedDict):
    name: str
    was_signed_in: bool


@final
class WatchedServer(TypedDict):
    server: Server


@final
class WatchedRemoval(TypedDict):
    removed: str


@final
class WatchedConfig(TypedDict):
    """Why the previous configuration is still used."""

    config_error: str


Watched = WatchedServer | WatchedRemoval | WatchedConfig


def server_shown(status: ServerStatus, host: Host) -> Server:
    tools = host.toolset.registry.snapshot.by_server.get(status.name, ())
    checking = sum(tool.checking for tool in tools)
    known = {
        **vars(status),
        "held": sum(tool.in_review for tool in tools),
        "checking": checking,
        "tools": status.tools or (len(tools) if checking else 0),
    }
    return Server(**known, calls=host.toolset.caller.counts.of(status.name))
