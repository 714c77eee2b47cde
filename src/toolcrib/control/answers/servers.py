"""Servers and how they are doing."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from toolcrib.control.answers.failures import Failure

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
    """How the calls of one tool went since the host began; times in milliseconds."""

    name: str
    total: int
    errors: int
    in_flight: int
    p50_ms: float | None
    p95_ms: float | None
    max_ms: float | None


class ServerCalls(TypedDict):
    """The same of a server, and of each of its tools that was called."""

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
    """The negotiated version of the protocol."""
    version: str | None
    """What the server says of itself."""
    tools: int
    last_connected: str | None
    restarts: int
    retry_at: str | None
    junk_lines: int
    """Lines on stdout that were no messages."""
    stale_tools: bool
    last_failure: str | None
    calls: ServerCalls


class Switched(TypedDict):
    """A server that was switched on or off."""

    name: str
    enabled: bool
    server: Server | None
    """None where no host runs."""


class MasterSwitch(TypedDict):
    """Whether anything runs at all."""

    enabled: bool


class ServerChecked(TypedDict):
    """A server that is configured; the type of a broken entry is None."""

    server: str
    type: str | None


class LogLines(TypedDict):
    """The last lines that a server wrote to stderr, oldest first."""

    server: str
    lines: list[str]


class LogLine(TypedDict):
    """One more line."""

    line: str


class LogBatch(TypedDict):
    """Some more lines."""

    lines: list[str]


class TrialStep(TypedDict):
    """One step of a trial; the first that fails is the last."""

    name: Literal["resolve", "spawn", "connect", "handshake", "list"]
    ok: bool
    ms: float
    detail: str
    hint: NotRequired[str]


class TrialRemedy(TypedDict):
    """With which options the server would have to be installed again."""

    reason: str
    option: Literal["also", "allow_scripts"]
    values: list[str]
    command: str


class Trial(TypedDict):
    """How a second instance of a server was started, step by step."""

    ok: bool
    steps: list[TrialStep]
    review: list[str]
    """What a model would find unclear about its tools."""
    tools: int
    error: NotRequired[Failure]
    remedy: NotRequired[TrialRemedy]


class Difference(TypedDict):
    """A part that is not what was agreed to."""

    before: Any
    now: Any


class HeldTool(TypedDict):
    """A tool that may not be called, such as one that is not as it was approved."""

    tool: str
    reason: str
    hash: str
    approved_hash: str | None
    approved_at: str | None
    changed: dict[str, Difference]
    findings: list[str]


class TrustShown(TypedDict):
    """What a server would run; a person agrees to its `mark`, which names exactly this."""

    name: str
    trusted: bool
    launch: dict[str, Any]
    changed: dict[str, Difference]
    remarks: list[str]
    tools: list[HeldTool]
    mark: str
    server: Server | None


class TrustAnswer(TypedDict):
    """Those that were asked for, or all that wait."""

    servers: list[TrustShown]


class SignInPage(TypedDict):
    """Where the person signs in."""

    open: str


class SignedInTo(TypedDict):
    """A sign-in that worked."""

    name: str
    issuer: str
    scope: str | None
    expires_in: int | None
    renews: bool
    server: Server | None


class SignedOutOf(TypedDict):
    """A sign-in that was forgotten."""

    name: str
    was_signed_in: bool


class WatchedServer(TypedDict):
    """A server, as it is now."""

    server: Server


class WatchedRemoval(TypedDict):
    """A server that is gone."""

    removed: str


class WatchedConfig(TypedDict):
    """Why the last good configuration stays."""

    config_error: str


Watched = WatchedServer | WatchedRemoval | WatchedConfig
