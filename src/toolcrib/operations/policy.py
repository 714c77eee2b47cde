"""Approval rules: list, add, edit, switch and remove them, checking their scope and examples first; and
explain what would be decided about a call."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from toolcrib import plugins
from toolcrib.approvals.gate import RULES
from toolcrib.approvals.rule import Rule, read_rule
from toolcrib.approvals.rule_match import check_examples
from toolcrib.errors import DatabaseUnavailable, NotFound, UsageError
from toolcrib.host import Host
from toolcrib.operations.lookup import find_tool, possible_owners
from toolcrib.operations.operation import (
    Configured,
    JsonObject,
    Needs,
    operation,
)
from toolcrib.operations.results.policy import (
    Explanation,
    Policy,
    PolicyRule,
    RuleRemoved,
    RuleShown,
    RuleSwitched,
    rule_shown,
    shown_rules,
)
from toolcrib.schema.approvals import Mode
from toolcrib.schema.mistakes import first_mistake
from toolcrib.schema.tools import Principal
from toolcrib.tools.validation import ArgumentChecker


@operation(page=True)
async def policy_list(host: Host) -> Policy:
    """List your approval rules and the mode of each kind of caller."""
    gate = host.approvals.policy
    return {
        "mode": gate.mode,
        "modes": dict(gate.modes),
        "rules": await shown_rules(host),
        "built_in": list(plugins.names(RULES)),
        "broken": list(host.approvals.rules.broken()),
    }


def _policy_explain_needs(params: Any, configured: Configured) -> Needs:
    return Needs(servers=possible_owners(params.tool, configured()), lazy=True)


@operation(page=True, needs=_policy_explain_needs)
async def policy_explain(
    host: Host,
    tool: str,
    *,
    arguments: JsonObject,
    principal: str = "agent",
    mode: Mode | None = None,
    project: str = "",
) -> Explanation:
    """Explain what would be decided about a call; nothing runs and no one is asked.

    `mode`: that of the settings if missing.
    """
    found = host.toolset.workspace.find(tool) or await find_tool(host, tool)
    ArgumentChecker().check(found, arguments)
    gate = host.approvals.policy
    asker = Principal(name=principal, session=f"explain-{tool}")
    gate.begin(asker, mode=mode, project=project)
    try:
        judgement = await gate.explain(found, arguments, asker)
        mode = gate.mode_of(asker)
    finally:
        gate.end(asker)
    return {
        "decision": judgement.decision,
        "rule": judgement.rule,
        "reasons": list(judgement.reasons),
        "mode": mode,
    }


@operation(page=True)
async def policy_add(host: Host, *, rule: JsonObject) -> RuleShown:
    """Add an approval rule after checking its examples."""
    checked = check_rule(rule)
    host.approvals.rules.add(checked)
    await _stored(host)
    return rule_shown(checked)


async def _stored(host: Host) -> None:
    """Raise `DatabaseUnavailable` if the change cannot be stored at the moment."""
    if not await host.approvals.rules.stored():
        raise DatabaseUnavailable(
            "The change applies now, but is not stored yet: the database cannot be written.",
            hint="It is stored as soon as that is possible. See why with: toolcrib doctor",
        )


def check_rule(given: dict[str, Any]) -> Rule:
    """Validate a rule and its examples; raises `UsageError`."""
    try:
        rule = read_rule({key: value for key, value in given.items() if key not in _ADDED_KEYS})
    except ValidationError as error:
        message, hint = first_mistake(error, Rule.model_json_schema())
        raise UsageError(f"The rule is not valid: {message}", hint=hint) from None
    _check_scope(rule)
    check_examples(rule)
    return rule


_ADDED_KEYS = PolicyRule.__annotations__.keys() - RuleShown.__annotations__.keys()
"""Keys that `policy_list` adds to a rule."""


def _check_scope(rule: Rule) -> None:
    if rule.scope == "once":
        raise UsageError("A stored rule cannot have the scope once.", hint="Use chat, project or always.")
    if (rule.scope == "always") == bool(rule.within):
        raise UsageError(
            f"A rule with the scope {rule.scope} {'has no' if rule.within else 'needs a'} chat or folder."
        )


@operation(page=True)
async def policy_edit(host: Host, id: str, *, rule: JsonObject) -> RuleShown:
    """Replace an approval rule after checking its examples.

    The new rule has a new id. Raises `NotFound`, or `UsageError` for an invalid rule.
    """
    checked = check_rule(rule)
    if not host.approvals.rules.replace(id, checked):
        raise NotFound(f"There is no rule {id!r}.", hint="See them with: toolcrib policy")
    await _stored(host)
    return rule_shown(checked)


@operation(page=True)
async def policy_switch(host: Host, id: str, enabled: bool) -> RuleSwitched:
    """Turn an approval rule on or off.

    Raises `NotFound`.
    """
    if not host.approvals.rules.switch(id, enabled):
        raise NotFound(f"There is no rule {id!r}.", hint="See them with: toolcrib policy")
    await _stored(host)
    return {"id": id, "enabled": enabled}


@operation(page=True)
async def policy_remove(host: Host, id: str) -> RuleRemoved:
    """Remove an approval rule.

    Raises `NotFound`.
    """
    known = {rule.id: rule for rule, _ in host.approvals.rules.listed()}.get(id)
    if not host.approvals.rules.remove(id):
        raise NotFound(f"There is no rule {id!r}.", hint="See them with: toolcrib policy")
    await _stored(host)
    return {"id": id, "removed": True, "rule": None if known is None else rule_shown(known)}
