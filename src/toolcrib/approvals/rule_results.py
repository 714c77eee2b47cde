"""The results of the user's rules: where a rule applies, and how firmly it decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.approvals.facts import shell_argument_named
from toolcrib.schema.approvals import RuleResult

if TYPE_CHECKING:
    from toolcrib.approvals.rule import Rule
    from toolcrib.approvals.sessions import SessionState
    from toolcrib.schema.tools import Principal


def result_of(rule: Rule) -> RuleResult:
    told = rule.why or f"one of your rules says {rule.effect}"
    # A rule for a whole tool does not answer what a command does; a rule for the command does.
    # A rule for a folder does not answer for special files in it.
    firm = rule.effect != "allow" or ((bool(rule.arguments) or rule.closed) and not _roams(rule))
    return RuleResult(effect=rule.effect, rule=rule.id, reason=f"{told[0].upper()}{told[1:]}.", firm=firm)


def _roams(rule: Rule) -> bool:
    """Whether the rule is for folders and not for a command."""
    if shell_argument_named(rule.server, rule.tool) in rule.arguments:
        return False
    return any(pattern.under is not None for pattern in rule.arguments.values())


def in_scope(rule: Rule, principal: Principal, session: SessionState) -> bool:
    if rule.scope == "chat":
        return principal.owns_session and rule.within == principal.session
    if rule.scope == "project":
        return bool(session.project) and rule.within == session.project
    return True
