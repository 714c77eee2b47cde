"""`policy_add`: remember a rule of the person, once its examples prove that it means what it should."""

from __future__ import annotations

from typing import Any

from pydantic import Field, ValidationError

from toolcrib.approvals.rule import Rule, read_rule
from toolcrib.approvals.rule_match import check_examples
from toolcrib.control.answers.policy import PolicyRule, RuleShown
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.policy_shapes import rule_shown
from toolcrib.errors import UsageError
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The rule, as `policy_list` shows one."""

    rule: dict[str, Any] = Field(default_factory=dict)


def needs(params: Params, configured: Configured) -> Needs:
    """It goes into the database."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> RuleShown:
    """The rule with its id."""
    rule = check_rule(params.rule)
    host.approvals.rules.add(rule)
    return rule_shown(rule)


def check_rule(given: dict[str, Any]) -> Rule:
    """The rule, if it makes sense and means what its examples say; raises `UsageError`."""
    try:
        rule = read_rule({key: value for key, value in given.items() if key not in _KNOWN_OF_IT})
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"The rule makes no sense: {where}: {first['msg']}.") from None
    _check_scope(rule)
    check_examples(rule)
    return rule


_KNOWN_OF_IT = PolicyRule.__annotations__.keys() - RuleShown.__annotations__.keys()
"""What `policy_list` tells of a rule besides the rule."""


def _check_scope(rule: Rule) -> None:
    if rule.scope == "once":
        raise UsageError("A rule that is remembered is not for once.", hint="Use chat, project or always.")
    if (rule.scope == "always") == bool(rule.within):
        raise UsageError(
            f"A rule of the scope {rule.scope} {'has no' if rule.within else 'needs a'} chat or folder."
        )
