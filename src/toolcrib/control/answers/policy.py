"""Rules, and the questions of the gate."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from pydantic import ConfigDict
from typing_extensions import TypedDict

Effect = Literal["allow", "ask", "deny"]
Mode = Literal["always", "on_miss", "on_rule", "plan", "session", "off"]
Scope = Literal["once", "chat", "project", "always"]
Lift = Literal["tool", "turn", "session"]


class RulePattern(TypedDict):
    """What an argument must be: just this value, text like this, a path in this folder, or anything."""

    equals: NotRequired[Any]
    like: NotRequired[str]
    under: NotRequired[str]
    any: NotRequired[Literal[True]]


class RuleExamples(TypedDict):
    """Arguments that the rule must speak of, and others that it must not."""

    match: NotRequired[list[dict[str, Any]]]
    not_match: NotRequired[list[dict[str, Any]]]


class RuleShown(TypedDict):
    """A rule as it stands in the file; what says nothing is left out."""

    id: str
    effect: Effect
    server: NotRequired[str]
    """May hold `*`; any where it is left out."""
    tool: NotRequired[str]
    arguments: NotRequired[dict[str, RulePattern]]
    closed: NotRequired[bool]
    exact: NotRequired[bool]
    """Arguments that are null count as given."""
    definition: NotRequired[str]
    scope: NotRequired[Scope]
    """`always` where it is left out."""
    within: NotRequired[str]
    why: NotRequired[str]
    examples: NotRequired[RuleExamples]


class PolicyRule(RuleShown):
    """A rule and what is known of it."""

    number: int
    """In the order in which they were made, from 1 on."""
    words: str
    """The rule as a sentence, whole."""
    place: str
    """Where it holds, and for which definition."""
    enabled: bool
    used: int
    """How many calls it decided, of those on record."""
    last_used: str | None
    asleep: str | None
    """When its tool changed, which it does not speak of any more; null while it does."""


class BrokenRule(TypedDict):
    """A rule that is kept but not in force."""

    id: str
    rule: str
    reason: str


class Policy(TypedDict):
    """When a person is asked, and the rules."""

    mode: Mode
    modes: dict[str, Mode]
    """By who calls."""
    rules: list[PolicyRule]
    built_in: list[str]
    broken: list[BrokenRule]


class RuleRemoved(TypedDict):
    """A rule that is gone; `policy_add` brings `rule` back, null where it could not be read."""

    id: str
    removed: bool
    rule: RuleShown | None


class RuleSwitched(TypedDict):
    """A rule that is in force now, or is no more."""

    id: str
    enabled: bool


class Explanation(TypedDict):
    """What would happen to a call, without running it."""

    decision: Effect
    rule: str | None
    reasons: list[str]
    mode: Mode


class RuleTexts(TypedDict):
    """The very rule that an answer of a scope would write, as text."""

    allow: str
    deny: str


class ApprovalQuestion(TypedDict):
    """A call that waits for a word; `arguments` are exact and whole."""

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
    """For every call of the tool, whatever its arguments."""
    tool_rules: NotRequired[dict[str, RuleTexts]]
    tool_rule_words: NotRequired[str]
    scopes: list[Scope]
    flow: bool
    lifts: NotRequired[list[Lift]]
    """How far content from outside may be let act, the narrowest first."""
    session_mode: bool


class ApprovalAnswered(TypedDict):
    """The word was taken."""

    id: str
    allowed: bool
    scope: Scope
