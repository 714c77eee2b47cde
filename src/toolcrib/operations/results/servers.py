"""Servers: state, tests, trust and sign-in."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal, NotRequired, cast, final

from typing_extensions import TypedDict

from toolcrib.host import Host
from toolcrib.schema.failures import Failure
from toolcrib.schema.servers import ServerStatus
from toolcrib.servers.trial import StepResult

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


class ToolCalls(TypedDict):
    """Calls of one tool since the host started; durations in milliseconds."""

    name: str
    total: int
    errors: int
    in_flight: int
    p50_ms: float | None
    p95_ms: float | None
    max_ms: float | None


class ServerCalls(TypedDict):
    """Calls of a server since the host started, in total and per tool."""

    total: int
    errors: int
    in_flight: int
    p50_ms: float | None
    p95_ms: float | None
    max_ms: float | None
    tools: list[ToolCalls]


class Server(TypedDict):
    """A server; `reason` says why it is in its state, `hint` what to do."""

    name: str
    type: str
    enabled: bool
    state: State
    reason: str
    hint: str
    pid: int | None
    era: str | None
    """The negotiated protocol version."""
    version: str | None
    """The version reported by the server."""
    tools: int
    held: int
    """Tools that are held for review; they are among `tools`."""
    checking: int
    """Tools that are held until they have been checked."""
    last_connected: str | None
    restarts: int
    retry_at: str | None
    junk_lines: int
    """Lines on stdout that were not messages."""
    stale_tools: bool
    unresponsive: bool
    needs: str
    """What only the user can provide, such as `account`; empty unless the state is `needs-config`."""
    last_failure: str | None
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


class LogLines(TypedDict):
    """The last lines that a server wrote to stderr, oldest first."""

    server: str
    lines: list[str]


@final
class LogLine(TypedDict):
    line: str


@final
class LogBatch(TypedDict):
    lines: list[str]


class TrialStep(TypedDict):
    """One step of a test; the test ends at the first step that fails."""

    name: Literal["resolve", "spawn", "connect", "handshake", "list"]
    ok: bool
    ms: float
    detail: str
    hint: NotRequired[str]


class TrialRemedy(TypedDict):
    """The option to reinstall the server with."""

    reason: str
    option: Literal["also", "allow_scripts"]
    values: list[str]
    command: str


class Trial(TypedDict):
    """The test of a server: a second instance is started, step by step."""

    ok: bool
    steps: list[TrialStep]
    review: list[str]
    """Unclear parts of its tool descriptions."""
    tools: int
    held: list[str]
    """Tools that are held for review: they cannot be called before the user approves them."""
    error: NotRequired[Failure]
    remedy: NotRequired[TrialRemedy]


class Difference(TypedDict):
    """A part that differs from what was approved."""

    before: Any
    now: Any


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


def server_json(status: ServerStatus, host: Host) -> Server:
    calls = host.toolset.caller.counts.of(status.name)
    tools = host.toolset.registry.snapshot.by_server.get(status.name, ())
    shown = {**asdict(status), "state": status.state.value}
    shown["held"] = sum(tool.in_review for tool in tools)
    shown["checking"] = sum(tool.checking for tool in tools)
    shown["tools"] = status.tools or (len(tools) if shown["checking"] else 0)
    shown["calls"] = asdict(calls)
    shown["calls"]["tools"] = [{"name": name, **counted} for name, counted in shown["calls"]["tools"].items()]
    return cast("Server", shown)


def step_json(step: StepResult) -> TrialStep:
    shown = {"name": step.name, "ok": step.ok, "ms": step.ms, "detail": step.detail}
    return cast("TrialStep", {**shown, "hint": step.hint} if step.hint else shown)
