"""`policy_add`: remember a rule of the person, once its examples prove that it means what it should."""

from __future__ import annotations

from typing import Any

from pydantic import Field, ValidationError

from toolcrib.approvals.matching import check_examples
from toolcrib.approvals.rule import Rule, read_rule
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.errors import UsageError
from toolcrib.host import Host

_SHELL_TOOLS = {("terminal", "run_command"), ("", "terminal")}


class Params(OperationParams):
    """The rule, as `policy_list` shows one."""

    rule: dict[str, Any] = Field(default_factory=dict)


def needs(params: Params, configured: Configured) -> Needs:
    """It goes into the database."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> dict[str, Any]:
    """The rule with its id."""
    try:
        rule = read_rule(params.rule)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"The rule makes no sense: {where}: {first['msg']}.") from None
    _check_scope(rule)
    check_examples(rule, "command" if (rule.server, rule.tool) in _SHELL_TOOLS else None)
    host.approvals.rules.add(rule)
    return rule.as_json()


def _check_scope(rule: Rule) -> None:
    if rule.scope == "once":
        raise UsageError("A rule that is remembered is not for once.", hint="Use chat, project or always.")
    if (rule.scope == "always") == bool(rule.within):
        raise UsageError(
            f"A rule of the scope {rule.scope} {'has no' if rule.within else 'needs a'} chat or folder."
        )
