"""Findings and mode into one judgement: the first step of the mode that decides, decides. Pure.

`STEPS` is the whole policy, one row for each mode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from toolcrib.schema.approvals import Effect, Finding, Judgement, Mode

FLOW = "untrusted_flow"
NO_RULE = "No rule allows it."
_WORDS = {
    "always": "The mode is to ask always.",
    "on_miss": NO_RULE,
    "on_rule": "No rule speaks of it.",
    "session": "A run of steps without asking was granted.",
    "off": "Nobody is asked in this mode.",
    "plan": "While planning, only reading is allowed.",
}


class _Case(NamedTuple):  # made for each call, and cheaper to make than a frozen dataclass
    """A call: what Toolcrib's rules found, what the user's rules found, and both together."""

    own: Sequence[Finding]
    theirs: Sequence[Finding]
    found: Sequence[Finding]
    mode: Mode
    declared_reading: bool


Step = Callable[[_Case], Judgement | None]
"""Decides, or leaves the call to the next step."""


def conclude(
    own: Sequence[Finding], theirs: Sequence[Finding], mode: Mode, *, declared_reading: bool
) -> Judgement:
    """`own` are the findings of Toolcrib's rules, `theirs` of the user's; `declared_reading` is a hint.

    An ask that is not firm is answered by a user's rule that names the arguments (one marked firm), not by
    one for the tool as a whole.
    """
    if mode == "on_rule":
        # The client has a user of its own who sees each call; only what is dangerous in itself counts.
        own = [one for one in own if one.rule != FLOW]
    case = _Case(own, theirs, [*own, *theirs], mode, declared_reading)
    for step in STEPS[mode]:
        judgement = step(case)
        if judgement is not None:
            return judgement
    raise AssertionError(f"No step of the mode {mode!r} decides.")


def _denied(case: _Case) -> Judgement | None:
    return _because(_first(case.found, "deny"), case)


def _settled(case: _Case) -> Judgement | None:
    return _because(_first(case.own, "allow", firm=True), case)


def _firm_ask(case: _Case) -> Judgement | None:
    return _because(_first(case.found, "ask", firm=True), case)


def _exact_rule(case: _Case) -> Judgement | None:
    return _because(_first(case.theirs, "allow", firm=True), case)


def _doubt(case: _Case) -> Judgement | None:
    return _because(_first(case.found, "ask"), case)


def _allowed(case: _Case) -> Judgement | None:
    return _because(_first(case.theirs, "allow") or _first(case.own, "allow"), case)


def _only_reading(case: _Case) -> Judgement | None:
    """Refuses what does not read; a tool's own claim to read counts only together with a user's rule."""
    if any(one.reads for one in case.own):
        return None
    if not case.declared_reading:
        return Judgement(decision="deny", rule=None, reasons=(_WORDS["plan"],))
    if _first(case.theirs, "allow") is not None:
        return None
    return Judgement(decision="ask", rule=None, reasons=("It only says of itself that it reads.",))


def _ask_always(case: _Case) -> Judgement:
    doubts = (one.reason for one in case.found if one.effect == "ask")
    return Judgement(decision="ask", rule=None, reasons=(_WORDS["always"], *doubts))


def _ask(case: _Case) -> Judgement:
    return Judgement(decision="ask", rule=None, reasons=(_WORDS[case.mode],))


def _allow(case: _Case) -> Judgement:
    return Judgement(decision="allow", rule=None, reasons=(_WORDS[case.mode],))


_RULES: tuple[Step, ...] = (_firm_ask, _exact_rule, _doubt, _allowed)
STEPS: Mapping[Mode, tuple[Step, ...]] = {
    "always": (_denied, _settled, _firm_ask, _ask_always),
    "on_miss": (_denied, _settled, *_RULES, _ask),
    "on_rule": (_denied, _settled, *_RULES, _allow),
    "plan": (_denied, _settled, _only_reading, *_RULES, _ask),
    "session": (_denied, _settled, _firm_ask, _exact_rule, _allow),
    "off": (_denied, _settled, _allow),
}
"""What is asked in turn in each mode; the last step always decides."""


def _first(findings: Sequence[Finding], effect: Effect, *, firm: bool | None = None) -> Finding | None:
    for one in findings:
        if one.effect == effect and (firm is None or one.firm == firm):
            return one
    return None


def _because(finding: Finding | None, case: _Case) -> Judgement | None:
    if finding is None:
        return None
    others = [one.reason for one in case.found if one is not finding and one.effect == finding.effect]
    return Judgement(
        decision=finding.effect,
        rule=finding.rule,
        reasons=(finding.reason, *others),
        flow=finding.rule == FLOW and not finding.vouchable,
    )
