"""Calls: results, records, calls in progress, and who made them (chat, page, gateway, workflow, terminal).
Also tokens and cost of turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, cast

from typing_extensions import TypedDict

from toolcrib.chats.call_question import CallExhibit
from toolcrib.errors import UsageError
from toolcrib.host import Host
from toolcrib.operations.results.policy import PolicyRule
from toolcrib.schema.approvals import Effect, Mode, Scope
from toolcrib.schema.json_values import moment
from toolcrib.schema.tools import CallRecord, CallUnderWay
from toolcrib.store.audit_search import FoundCall, Place, place_of

Outcome = Literal["ok", "tool_error", "invalid", "denied", "timeout", "cancelled", "unavailable", "failed"]


class CallRecorded(TypedDict):
    time: str
    tool: str
    server: str | None
    principal: str
    outcome: Outcome
    ms: float
    bytes: int
    arguments: str
    """JSON, with secrets masked, shortened."""
    error: str | None
    session: str | None
    call_id: str


WhoKind = Literal["chat", "page", "gateway", "workflow", "python", "terminal", "other"]


class Who(TypedDict):
    """The caller."""

    kind: WhoKind
    name: str
    """The client, workflow or program; empty if there is only one of its kind."""
    session: str | None
    """The chat that made the call, if any."""


class GateNote(TypedDict):
    """The approval decision about a call."""

    rule: str | None
    """The name of a built-in rule, the id of a user's rule, `asked` if the user allowed the call, or
    `granted` if the user allowed calls like it in this chat."""
    number: int | None
    """The number of the user's rule, if it still exists."""
    reason: str
    mode: NotRequired[Mode]
    decision: NotRequired[Effect]
    """Before the user was asked."""
    asked: NotRequired[list[str]]
    """Why the user was asked."""
    allowed: NotRequired[bool]
    """The user's answer."""
    scope: NotRequired[Scope]
    grant: NotRequired[str]
    """What the answer allows for the whole chat, without a rule."""
    message: NotRequired[str]
    waited_ms: NotRequired[float]
    judged_ms: NotRequired[float]
    """How long the gate took to decide."""


class Call(TypedDict):
    """A recorded call."""

    place: str
    """Position in the record, for `before` and `after`."""
    call_id: str
    time: str
    tool: str
    server: str | None
    name: str
    """The tool's own name, without the server's prefix."""
    who: Who
    outcome: Outcome
    ms: float
    bytes: int
    arguments: str
    error: str | None
    gate: GateNote | None
    """Null if approvals were off."""


class CallCounts(TypedDict):
    total: int
    asked: int
    denied: int
    failed: int
    days: int


class Calls(TypedDict):
    """Calls, newest first."""

    calls: list[Call]
    matching: int | None
    """The number of matching calls, if it was requested."""
    more: bool


class RunningCall(TypedDict):
    """A call in progress."""

    call_id: str
    time: str
    tool: str
    server: str | None
    name: str
    who: Who
    state: Literal["running", "asking", "waiting"]
    """`waiting`: not started, because another question of its session comes first."""
    began: str | None
    """When the tool started; null before that."""
    question: str | None
    """The id of the question it waits for."""
    arguments: str
    gate: GateNote | None
    """Null while it waits, and if approvals were off."""


class CallPath(TypedDict):
    """A recorded call in detail."""

    call: Call
    chat: str | None
    """The title of the chat that made the call."""
    exhibit: CallExhibit
    rules: list[PolicyRule]
    """The user's rules about the same tool."""
    server_state: str | None


class ModelRequest(TypedDict):
    """Tokens and cost of one turn of a chat."""

    chat: str
    title: str
    time: str
    model: str
    ending: str
    rounds: int
    input: int
    output: int
    cached: int
    cost: float | None


class ModelRequests(TypedDict):
    """Turns, newest first."""

    turns: list[ModelRequest]
    more: bool
    input: int
    output: int
    cost: float | None
    """`input`, `output` and `cost` are totals of the last `days` days."""
    days: int


_KINDS: Mapping[str, WhoKind] = {
    "agent": "chat",
    "page": "page",
    "gateway": "gateway",
    "workflow": "workflow",
    "python": "python",
    "cli": "terminal",
}


def shown_call(host: Host, found: FoundCall, numbers: Mapping[str, int]) -> Call:
    record = found.record
    return {
        "place": "-".join(map(str, place_of(found))),
        "call_id": record.call_id,
        "time": moment(record.time),
        "tool": record.tool,
        "server": record.server,
        "name": own_name(host, record.tool, record.server),
        "who": who(record.principal, record.session),
        "outcome": record.outcome,
        "ms": record.ms,
        "bytes": record.bytes,
        "arguments": record.arguments,
        "error": record.error,
        "gate": _gate(record.extra, numbers),
    }


def shown_running(host: Host, call: CallUnderWay, numbers: Mapping[str, int]) -> RunningCall:
    question = host.approvals.policy.asking.get(call.id)
    return {
        "call_id": call.id,
        "time": moment(call.time),
        "tool": call.tool,
        "server": call.server,
        "name": own_name(host, call.tool, call.server),
        "who": who(call.principal, call.session),
        "state": "asking" if question is not None else "waiting" if call.began is None else "running",
        "began": None if call.began is None else moment(call.began),
        "question": None if question is None else question.id,
        "arguments": call.arguments,
        "gate": _gate(call.extra, numbers),
    }


def read_place(text: str | None) -> Place | None:
    """Parse the `place` of a call; raises `UsageError`."""
    if text is None:
        return None
    time, _, number = text.partition("-")
    if not (time.isdecimal() and number.isdecimal()):
        raise UsageError(
            f"{text[:80]!r} is not a place in the record.", hint="Use the `place` of a returned call."
        )
    return int(time), int(number)


def who(principal: str, session: str | None) -> Who:
    first, _, name = principal.partition(":")
    kind = _KINDS.get(first, "other")
    return {"kind": kind, "name": name or (first if kind == "other" else ""), "session": session}


def own_name(host: Host, tool: str, server: str | None) -> str:
    """The tool's own name; for a tool that no longer exists, derived from its public name."""
    known = host.toolset.registry.snapshot.tools.get(tool)
    if known is not None:
        return known.definition.name
    return tool.removeprefix(f"{server}__") if server else tool


def _gate(extra: Mapping[str, Any], numbers: Mapping[str, int]) -> GateNote | None:
    if "reason" not in extra:
        return None
    rule = extra.get("rule")
    kept = {key: extra[key] for key in _GATE_KEYS if key in extra}
    note = {"rule": rule, "number": numbers.get(str(rule)), "reason": extra["reason"], **kept}
    return cast("GateNote", note)


_GATE_KEYS = (
    "mode",
    "decision",
    "asked",
    "allowed",
    "scope",
    "grant",
    "message",
    "waited_ms",
    "judged_ms",
)


def record_json(record: CallRecord) -> CallRecorded:
    return {
        "time": moment(record.time),
        "tool": record.tool,
        "server": record.server,
        "principal": record.principal,
        "outcome": record.outcome,
        "ms": record.ms,
        "bytes": record.bytes,
        "arguments": record.arguments,
        "error": record.error,
        "session": record.session,
        "call_id": record.call_id,
    }
