"""Calls as the page shows them: who asked, what the gate said, how it went."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from toolcrib.control.answers.activity import Call, GateNote, RunningCall, Who, WhoKind
from toolcrib.control.shapes import moment
from toolcrib.errors import UsageError
from toolcrib.host import Host
from toolcrib.schema.tools import CallUnderWay
from toolcrib.store.audit_search import FoundCall, Place, place_of

_KINDS: Mapping[str, WhoKind] = {
    "agent": "chat",
    "page": "page",
    "gateway": "gateway",
    "workflow": "workflow",
    "python": "python",
    "cli": "terminal",
}


def shown_call(host: Host, found: FoundCall, numbers: Mapping[str, int]) -> Call:
    """A call of the record."""
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
    """A call that has not ended."""
    question = host.approvals.asking.get(call.id)
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
    """The place that a call was shown with; raises `UsageError`."""
    if text is None:
        return None
    time, _, number = text.partition("-")
    if not (time.isdecimal() and number.isdecimal()):
        raise UsageError(f"{text[:80]!r} is no place in the record.", hint="Take one from an answer.")
    return int(time), int(number)


def who(principal: str, session: str | None) -> Who:
    """On whose behalf a call was made."""
    first, _, name = principal.partition(":")
    kind = _KINDS.get(first, "other")
    return {"kind": kind, "name": name or (first if kind == "other" else ""), "session": session}


def own_name(host: Host, tool: str, server: str | None) -> str:
    """The tool's own name; of one that is gone, what its public name says."""
    known = host.registry.snapshot.tools.get(tool)
    if known is not None:
        return known.definition.name
    return tool.removeprefix(f"{server}__") if server else tool


def _gate(extra: Mapping[str, Any], numbers: Mapping[str, int]) -> GateNote | None:
    if "reason" not in extra:
        return None
    rule = extra.get("rule")
    kept = {key: extra[key] for key in _NOTED if key in extra}
    note = {"rule": rule, "number": numbers.get(str(rule)), "reason": extra["reason"], **kept}
    return cast("GateNote", note)


_NOTED = ("mode", "decision", "asked", "allowed", "scope", "message", "waited_ms", "judged_ms")
