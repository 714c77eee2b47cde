"""Approval rules as they are shown: number, text, use, who decided, why one is inactive; and the fields of an
approval question."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, Literal, NotRequired, cast

from pydantic import ConfigDict
from typing_extensions import TypedDict

from toolcrib.approvals.rule import Rule
from toolcrib.approvals.rule_match import BrokenRule
from toolcrib.approvals.rule_text import rule_place, rule_words
from toolcrib.host import Host
from toolcrib.schema.approvals import Effect, FlowException, Mode, Scope
from toolcrib.schema.json_values import moment
from toolcrib.schema.tools import Tool
from toolcrib.store.audit_search import uses_of_rules
from toolcrib.store.columns import from_stored


class RulePattern(TypedDict):
    """Condition on an argument: this exact value, text like this, a path in this folder, or anything."""

    equals: NotRequired[Any]
    like: NotRequired[str]
    under: NotRequired[str]
    any: NotRequired[Literal[True]]


class RuleExamples(TypedDict):
    """Arguments that the rule must match, and others that it must not."""

    match: NotRequired[list[dict[str, Any]]]
    not_match: NotRequired[list[dict[str, Any]]]


class RuleShown(TypedDict):
    """A rule as stored; keys with default values are omitted."""

    id: str
    effect: Effect
    server: NotRequired[str]
    """May contain `*`; any server if missing."""
    tool: NotRequired[str]
    arguments: NotRequired[dict[str, RulePattern]]
    closed: NotRequired[bool]
    exact: NotRequired[bool]
    """Whether arguments that are null count as given."""
    definition: NotRequired[str]
    scope: NotRequired[Scope]
    """`always` if missing."""
    within: NotRequired[str]
    why: NotRequired[str]
    examples: NotRequired[RuleExamples]


class PolicyRule(RuleShown):
    """A rule with its text and use."""

    number: int
    """In order of creation, starting at 1."""
    words: str
    """The rule as a sentence."""
    place: str
    """Where it applies, and to which definition."""
    enabled: bool
    used: int
    """How many recorded calls it decided."""
    last_used: str | None
    asleep: str | None
    """When its tool changed, since which the rule no longer applies; null if it applies."""
    inactive: str | None
    """Another reason why the rule applies to no call."""
    decided_by: str
    """Who made or last changed it: a user, or a signed-in browser; empty if unknown."""
    decided_on: str
    """The machine on which that was."""
    decided_at: str | None


class Policy(TypedDict):
    """The approval mode and the rules."""

    mode: Mode
    modes: dict[str, Mode]
    """By caller."""
    rules: list[PolicyRule]
    built_in: list[str]
    broken: list[BrokenRule]


class RuleRemoved(TypedDict):
    """A removed rule; `policy_add` adds `rule` again. Null if it could not be read."""

    id: str
    removed: bool
    rule: RuleShown | None


class RuleSwitched(TypedDict):
    id: str
    enabled: bool


class Explanation(TypedDict):
    """The decision that a call would get."""

    decision: Effect
    rule: str | None
    reasons: list[str]
    mode: Mode


class RuleTexts(TypedDict):
    """The text of the rules that an answer of this scope would add."""

    allow: str
    deny: str


class ApprovalQuestion(TypedDict):
    """A call that waits for approval; `arguments` are exact and complete."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]

    asked_at: str
    id: str
    principal: str
    session: str | None
    project: str
    tool: str
    server: str | None
    arguments: dict[str, Any]
    call: str
    reasons: list[str]
    rule: RuleShown
    rules: NotRequired[dict[str, RuleTexts]]
    rule_words: NotRequired[str]
    tool_rule: NotRequired[RuleShown | None]
    """A rule for every call of the tool, with any arguments."""
    tool_rules: NotRequired[dict[str, RuleTexts]]
    tool_rule_words: NotRequired[str]
    scopes: list[Scope]
    flow: bool
    hazard: NotRequired[bool]
    """It runs code that nobody has seen, so that only this call can be allowed."""
    lifts: NotRequired[list[FlowException]]
    """How long outside content may be ignored, shortest first."""
    session_mode: bool
    grant: NotRequired[str]
    """What an answer for the chat allows, if no rule is stored."""
    expires: NotRequired[str]
    """When it is withdrawn, with an answer that no call has taken."""


class ApprovalAnswered(TypedDict):
    id: str
    allowed: bool
    scope: Scope


Uses = Mapping[str, tuple[int, datetime]]


async def shown_rules(host: Host) -> list[PolicyRule]:
    """All readable rules, enabled or not, in order of creation."""
    listed = host.approvals.rules.listed()
    uses = await host.audit.look(partial(uses_of_rules, rules=[rule.id for rule, _ in listed]))
    return [_shown(host, number, rule, on, uses) for number, (rule, on) in enumerate(listed, 1)]


def rule_shown(rule: Rule) -> RuleShown:
    return cast("RuleShown", rule.as_json())


def rule_numbers(host: Host) -> dict[str, int]:
    return {rule.id: number for number, (rule, _) in enumerate(host.approvals.rules.listed(), 1)}


def covers_tool(rule: PolicyRule, server: str | None, name: str) -> bool:
    """Whether a rule is about this tool, with any arguments."""
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
            "inactive": _inactive(rule),
            **_decided(host, rule),
        },
    )


def _inactive(rule: Rule) -> str | None:
    """Answers for "this chat" were once stored for all callers without a session."""
    if rule.scope != "chat" or rule.within.partition(":")[0] not in ("gateway", "cli", "python"):
        return None
    return f"it was for all sessions of {rule.within}, and an answer is for one session"


def _decided(host: Host, rule: Rule) -> dict[str, str | None]:
    made = host.approvals.rules.decided(rule.id)
    at = moment(from_stored(made.at)) if made.at else None
    return {"decided_by": made.by, "decided_on": made.host, "decided_at": at}


def _asleep(host: Host, rule: Rule) -> str | None:
    if not rule.definition:
        return None
    tool = _named(host, rule)
    if tool is None or tool.hash == rule.definition:
        return None
    return moment(tool.history.last_changed) if tool.history is not None else ""


def _named(host: Host, rule: Rule) -> Tool | None:
    tools = host.toolset.registry.snapshot.by_server.get(rule.server or None, ())
    return next((tool for tool in tools if tool.definition.name == rule.tool), None)
