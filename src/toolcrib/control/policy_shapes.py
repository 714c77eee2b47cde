"""A person's rules as surfaces show them: in words, with their number, their use, and whether they sleep."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from fnmatch import fnmatchcase
from functools import partial
from typing import cast

from toolcrib.approvals.rule import Rule
from toolcrib.approvals.rule_words import rule_place, rule_words
from toolcrib.control.answers.policy import PolicyRule, RuleShown
from toolcrib.control.shapes import moment
from toolcrib.host import Host
from toolcrib.schema.tools import Tool
from toolcrib.store.audit_search import uses_of_rules

Uses = Mapping[str, tuple[int, datetime]]


async def shown_rules(host: Host) -> list[PolicyRule]:
    """All that can be read, in force or not, in the order in which they were made."""
    listed = host.approvals.rules.listed()
    uses = await host.audit.look(partial(uses_of_rules, rules=[rule.id for rule, _ in listed]))
    return [_shown(host, number, rule, on, uses) for number, (rule, on) in enumerate(listed, 1)]


def rule_shown(rule: Rule) -> RuleShown:
    """A rule as it stands in the file."""
    return cast("RuleShown", rule.as_json())


def rule_numbers(host: Host) -> dict[str, int]:
    """The number of each rule, by its id."""
    return {rule.id: number for number, (rule, _) in enumerate(host.approvals.rules.listed(), 1)}


def speaks_of_tool(rule: PolicyRule, server: str | None, name: str) -> bool:
    """Whether a rule is about this tool, whatever the arguments."""
    return fnmatchcase(server or "", rule.get("server", "*")) and fnmatchcase(name, rule.get("tool", "*"))


def _shown(host: Host, number: int, rule: Rule, on: bool, uses: Uses) -> PolicyRule:
    used, last = uses.get(rule.id, (0, None))
    return cast(
        "PolicyRule",
        {
            **rule.as_json(),
            "number": number,
            "words": rule_words(rule),
            "place": rule_place(rule),
            "enabled": on,
            "used": used,
            "last_used": None if last is None else moment(last),
            "asleep": _asleep(host, rule),
        },
    )


def _asleep(host: Host, rule: Rule) -> str | None:
    if not rule.definition:
        return None
    tool = _named(host, rule)
    if tool is None or tool.hash == rule.definition:
        return None
    return moment(tool.history.last_changed) if tool.history is not None else ""


def _named(host: Host, rule: Rule) -> Tool | None:
    tools = host.registry.snapshot.by_server.get(rule.server or None, ())
    return next((tool for tool in tools if tool.definition.name == rule.tool), None)
