"""Combines the results of all rules and the mode into one verdict: the first deciding step of the mode. Pure.

`STEPS` is the whole policy, one row for each mode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from toolcrib.schema.approvals import Effect, Judgement, Mode, RuleResult

FLOW, PRIVATE = "untrusted_flow", "private_flow"
OUTGOING = "outgoing"
NO_RULE = "No rule allows it."
_WORDS = {
    "always": "The mode is to always ask.",
    "on_miss": NO_RULE,
    "on_rule": "No rule applies.",
    "session": "Steps without approval were granted for this turn.",
    "off": "This mode does not ask.",
    "plan": "In plan mode, only read-only calls are allowed.",
}


class _Case(NamedTuple):  # created for each call, and cheaper than a frozen dataclass
    """A call with the results of built-in rules, of the user's rules, and of both."""

    own: Sequence[RuleResult]
    theirs: Sequence[RuleResult]
    found: Sequence[RuleResult]
    mode: Mode
    declared_reading: bool


Step = Callable[[_Case], Judgement | None]
"""Decides, or leaves the call to the next step."""


def conclude(
    own: Sequence[RuleResult], theirs: Sequence[RuleResult], mode: Mode, *, declared_reading: bool
) -> Judgement:
    """`own` are the results of built-in rules, `theirs` of the user's; `declared_reading` is the tool's
    annotation.

    An ask that is not firm is answered by a user's rule for these arguments (marked firm), not by one for the
    whole tool.
    """
    if mode == "on_rule":
        # The client's own user sees each call; only what is dangerous in itself counts.
        own = [finding for finding in own if finding.rule != FLOW and finding.on_rule]
    elif any(finding.rule == FLOW for finding in own):
        own = [finding for finding in own if finding.rule != PRIVATE]  # one question for both
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
    """Denies what is not read-only; the annotation alone counts only with a user's rule."""
    if any(finding.reads for finding in case.own):
        return None
    if not case.declared_reading:
        return Judgement(decision="deny", rule=None, reasons=(_WORDS["plan"],))
    if _first(case.theirs, "allow") is not None:
        return None
    return Judgement(decision="ask", rule=None, reasons=("It is read-only only by its own account.",))


def _ask_always(case: _Case) -> Judgement:
    doubts = (finding.reason for finding in case.found if finding.effect == "ask")
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
"""The steps of each mode; the last one always decides."""


def _first(findings: Sequence[RuleResult], effect: Effect, *, firm: bool | None = None) -> RuleResult | None:
    for finding in findings:
        if finding.effect == effect and (firm is None or finding.firm == firm):
            return finding
    return None


def _because(finding: RuleResult | None, case: _Case) -> Judgement | None:
    if finding is None:
        return None
    others = [other.reason for other in case.found if other is not finding and other.effect == finding.effect]
    return Judgement(
        decision=finding.effect,
        rule=finding.rule,
        reasons=(finding.reason, *others),
        flow=finding.rule in (FLOW, PRIVATE) and not finding.vouchable,
    )
