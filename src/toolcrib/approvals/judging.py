"""Findings and mode into one judgement: the strictest wins, and it is said why. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.schema.approvals import Finding, Judgement, Mode

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


def conclude(
    own: Sequence[Finding], theirs: Sequence[Finding], mode: Mode, *, declared_reading: bool
) -> Judgement:
    """`own` are the findings of Toolcrib's rules, `theirs` of the person's; `declared_reading` is a hint.

    An ask that is not firm is answered by a person's rule that names the arguments (one marked firm), not by
    one for the tool as a whole.
    """
    if mode == "on_rule":
        # Whoever calls has a person of its own who sees each call; only what is dangerous in itself counts.
        own = [one for one in own if one.rule != FLOW]
    found = [*own, *theirs]
    denial = _first(found, "deny")
    if denial is not None:
        return _because(denial, found)
    settled = _first(own, "allow", firm=True)
    if settled is not None:
        return _because(settled, found)
    reads = any(one.reads for one in own)
    allowed = _first(theirs, "allow", firm=True) or _first(theirs, "allow")
    if mode == "plan" and not reads and not (declared_reading and allowed is not None):
        if declared_reading:
            return Judgement(decision="ask", rule=None, reasons=("It only says of itself that it reads.",))
        return Judgement(decision="deny", rule=None, reasons=(_WORDS["plan"],))
    if mode == "off":
        return Judgement(decision="allow", rule=None, reasons=(_WORDS["off"],))
    asking = _first(found, "ask", firm=True)
    if asking is not None:
        return _because(asking, found)
    if mode == "always":
        return Judgement(decision="ask", rule=None, reasons=(_WORDS["always"], *_reasons(found)))
    exact = _first(theirs, "allow", firm=True)
    if exact is not None:
        return _because(exact, found)
    if mode == "session":
        return Judgement(decision="allow", rule=None, reasons=(_WORDS["session"],))
    doubt = _first(found, "ask")
    if doubt is not None:
        return _because(doubt, found)
    allowed = allowed or _first(own, "allow")
    if allowed is not None:
        return _because(allowed, found)
    decision = "ask" if mode in ("on_miss", "plan") else "allow"
    return Judgement(decision="ask" if decision == "ask" else "allow", rule=None, reasons=(_WORDS[mode],))


def _first(findings: Sequence[Finding], effect: str, *, firm: bool | None = None) -> Finding | None:
    for one in findings:
        if one.effect == effect and (firm is None or one.firm == firm):
            return one
    return None


def _because(finding: Finding, found: Sequence[Finding]) -> Judgement:
    others = [one.reason for one in found if one is not finding and one.effect == finding.effect]
    return Judgement(
        decision=finding.effect,
        rule=finding.rule,
        reasons=(finding.reason, *others),
        flow=finding.rule == FLOW and not finding.vouchable,
    )


def _reasons(found: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(one.reason for one in found if one.effect == "ask")
