"""A question to a person about one call, and the answer; whoever can show one implements `Asker`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from toolcrib.schema.approvals import LIFTS, Effect, Lift, Scope

if TYPE_CHECKING:
    from toolcrib.approvals.rule import Rule

_HIDING = re.compile(
    r"[\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    r"\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)


@dataclass(frozen=True, kw_only=True)
class Question:
    """One call that waits for a word. What is shown is what runs: the arguments are exact and whole."""

    id: str
    principal: str
    session: str | None
    project: str
    """The folder that the session works in; empty when there is none."""
    tool: str
    server: str | None
    arguments: Mapping[str, Any]
    reasons: tuple[str, ...]
    rule: Rule
    """What "always" would write, to the letter."""
    scopes: tuple[Scope, ...]
    """For how long it can be allowed."""
    tool_rule: Rule | None = None
    """What `Answer.any_arguments` would write in its place: a rule for the tool, whatever its arguments."""
    flow: bool = False
    """Asked because of content from outside; `Answer.lift` ends that."""
    lifts: tuple[Lift, ...] = ()
    """How far that can be ended, the narrowest first."""
    session_mode: bool = False
    """Asks for a run of steps without asking, not for one step."""
    digest: str = ""
    """The same for the same call of the same session."""

    @property
    def call_text(self) -> str:
        """The call, with everything that could hide in it shown as an escape."""
        return f"{self.tool} {revealed(json.dumps(dict(self.arguments), ensure_ascii=False, indent=2))}"

    @property
    def rule_text(self) -> str:
        """The rule that "always" would write, as JSON."""
        return rule_text(self.rule)

    def rule_for(self, scope: Scope, effect: Effect = "allow", rule: Rule | None = None) -> Rule:
        """What an answer of this scope writes, to the letter; `rule` in place of the question's own."""
        within = {"chat": self.session or self.principal, "project": self.project}
        changes = {"effect": effect, "scope": scope, "within": within.get(scope, "")}
        return (rule or self.rule).model_copy(update=changes)

    def rule_texts(self, rule: Rule | None = None) -> dict[str, dict[str, str]]:
        """The rules that could be written, as text: by scope, then by what the person says.

        `rule` in place of the question's own.
        """
        lasting = [scope for scope in self.scopes if scope != "once"]
        effects: tuple[Effect, ...] = ("allow", "deny")
        return {
            scope: {effect: rule_text(self.rule_for(scope, effect, rule)) for effect in effects}
            for scope in lasting
        }

    def as_json(self) -> dict[str, Any]:
        """For surfaces that are elsewhere."""
        from toolcrib.approvals.rule_words import rule_words

        whole = self.tool_rule
        return {
            "id": self.id,
            "principal": self.principal,
            "session": self.session,
            "project": self.project,
            "tool": self.tool,
            "server": self.server,
            "arguments": dict(self.arguments),
            "call": self.call_text,
            "reasons": list(self.reasons),
            "rule": self.rule.as_json(),
            "rules": self.rule_texts(),
            "rule_words": rule_words(self.rule),
            "tool_rule": None if whole is None else whole.as_json(),
            "tool_rules": {} if whole is None else self.rule_texts(whole),
            "tool_rule_words": "" if whole is None else rule_words(whole),
            "scopes": list(self.scopes),
            "flow": self.flow,
            "lifts": list(self.lifts),
            "session_mode": self.session_mode,
        }


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the person said."""

    allow: bool
    scope: Scope = "once"
    """For how long; beyond `once` the question's rule is remembered, or `rule` in its place."""
    rule: Rule | None = None
    any_arguments: bool = False
    """The question's rule for the whole tool is remembered, where it has one."""
    message: str = ""
    """Told to whoever made the call, when it is not allowed."""
    lift: Lift | None = None
    """Content from outside may cause calls from now on: of this tool, in this turn, or in this session."""
    whole_turn: bool = False
    """Ask no more until the turn ends."""


class Asker(Protocol):
    """Where a person can be asked: a terminal, a page, a client behind the gateway."""

    async def ask(self, question: Question) -> Answer:
        """Show it and wait for the answer; cancelled when the call is."""


def read_lift(said: object) -> Lift | None:
    """How far something is lifted, as a surface says it; `True` means the session, as it did in the past."""
    if said is True:
        return "session"
    return next((one for one in LIFTS if one == said), None)


def rule_text(rule: Rule) -> str:
    """A rule as JSON, with nothing hidden in it."""
    return revealed(json.dumps(rule.as_json(), ensure_ascii=False))


def revealed(text: str) -> str:
    """JSON text with every character that could hide or rearrange others escaped; still the same JSON."""
    return _HIDING.sub(lambda match: json.dumps(match.group())[1:-1], text)
