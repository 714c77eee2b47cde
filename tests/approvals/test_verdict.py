"""The policy of the modes: which finding wins, and what decides where none does."""

from __future__ import annotations

from typing import get_args

import pytest

from toolcrib.approvals.verdict import FLOW, STEPS, conclude
from toolcrib.schema.approvals import Effect, Judgement, Mode, RuleResult

MODES: tuple[Mode, ...] = get_args(Mode)


def finding(effect: Effect, rule: str = "rule", *, final: bool = False, reads: bool = False) -> RuleResult:
    return RuleResult(effect=effect, rule=rule, reason=f"{rule} says {effect}.", final=final, reads=reads)


def judged(
    mode: Mode, own: RuleResult | None = None, theirs: RuleResult | None = None, *, reading: bool = False
) -> Judgement:
    return conclude([own] if own else [], [theirs] if theirs else [], mode, declared_reading=reading)


def test_every_mode_has_its_row() -> None:
    assert set(STEPS) == set(MODES)


@pytest.mark.parametrize("mode", MODES)
def test_a_denial_wins_in_every_mode(mode: Mode) -> None:
    allow = finding("allow", "own", final=True, reads=True)

    assert judged(mode, allow, finding("deny", "mine")).rule == "mine"
    assert judged(mode, finding("deny", "own"), finding("allow", final=True)).rule == "own"


@pytest.mark.parametrize("mode", MODES)
def test_a_firm_allow_of_our_own_is_asked_about_in_no_mode(mode: Mode) -> None:
    judgement = judged(mode, finding("allow", "own", final=True), finding("ask", "mine", final=True))

    assert (judgement.decision, judgement.rule) == ("allow", "own")


@pytest.mark.parametrize(
    ("mode", "decision"),
    [
        ("always", "ask"),
        ("on_miss", "ask"),
        ("on_rule", "allow"),
        ("plan", "deny"),
        ("session", "allow"),
        ("off", "allow"),
    ],
)
def test_without_a_finding_the_mode_decides(mode: Mode, decision: Effect) -> None:
    judgement = judged(mode)

    assert (judgement.decision, judgement.rule) == (decision, None)
    assert judgement.reasons


@pytest.mark.parametrize("mode", ["on_miss", "on_rule", "session"])
def test_a_rule_that_names_the_arguments_answers_a_doubt_and_one_for_the_tool_does_not(mode: Mode) -> None:
    doubt = finding("ask", "own")

    assert judged(mode, doubt, finding("allow", "mine", final=True)).rule == "mine"
    assert judged(mode, doubt, finding("allow", "mine")).rule == (None if mode == "session" else "own")


@pytest.mark.parametrize("mode", ["always", "on_miss", "on_rule", "session"])
def test_no_rule_of_a_user_lifts_a_firm_ask(mode: Mode) -> None:
    judgement = judged(mode, finding("ask", "own", final=True), finding("allow", "mine", final=True))

    assert (judgement.decision, judgement.rule) == ("ask", "own")


def test_asking_always_names_the_doubts_too() -> None:
    assert judged("always", finding("ask", "own")).reasons[1:] == ("own says ask.",)


@pytest.mark.parametrize(
    ("own", "theirs", "reading", "decision"),
    [
        (finding("allow", reads=True), None, False, "allow"),
        (None, None, True, "ask"),
        (None, finding("allow", "mine"), True, "allow"),
        (None, finding("allow", "mine"), False, "deny"),
        (finding("allow"), None, False, "deny"),
    ],
)
def test_while_planning_only_reading_is_allowed(
    own: RuleResult | None, theirs: RuleResult | None, reading: bool, decision: Effect
) -> None:
    assert judged("plan", own, theirs, reading=reading).decision == decision


def test_a_client_with_its_own_user_is_not_asked_about_untrusted_content() -> None:
    assert judged("on_rule", finding("ask", FLOW, final=True)).decision == "allow"
    assert judged("on_miss", finding("ask", FLOW, final=True)).flow
