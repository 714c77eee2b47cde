"""What the gate needs kept: a person's rules, and questions that wait; `store` implements both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from toolcrib.approvals.question import Answer, Question
from toolcrib.approvals.rule import Rule


class RuleStore(Protocol):
    """The person's rules, all at hand."""

    def all(self) -> Sequence[Rule]:
        """In the order in which they were made."""

    def add(self, rule: Rule) -> None:
        """Remember one; one that is known already is fine."""

    def remove(self, rule_id: str) -> bool:
        """Forget one; False when there is none of this id."""


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """A question that was asked when nobody was there."""

    question: dict[str, Any]
    asked_at: datetime


class RequestStore(Protocol):
    """Questions that outlive the process that asked them."""

    async def put(self, question: Question) -> None:
        """Keep a question; the same one is not kept twice."""

    async def answer(self, question_id: str, answer: Answer) -> bool:
        """Note an answer; False when no such question waits."""

    async def take(self, digest: str) -> Answer | None:
        """The answer to a question of this digest, once; None while there is none."""

    async def waiting(self) -> list[Waiting]:
        """All that wait, the oldest first."""


class RulesInMemory:
    """Rules that live as long as the process."""

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        self._rules = {rule.id: rule for rule in rules}

    def all(self) -> Sequence[Rule]:
        """Those there are."""
        return tuple(self._rules.values())

    def add(self, rule: Rule) -> None:
        """Remember one."""
        self._rules[rule.id] = rule

    def remove(self, rule_id: str) -> bool:
        """Forget one."""
        return self._rules.pop(rule_id, None) is not None
