"""What the gate needs kept: a person's rules, and questions that wait; `store` implements both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from toolcrib.approvals.question import Answer, Question

if TYPE_CHECKING:
    from toolcrib.approvals.rule import Rule


class RuleStore(Protocol):
    """The person's rules, all at hand."""

    def all(self) -> Sequence[Rule]:
        """In the order in which they were made."""

    def add(self, rule: Rule) -> None:
        """Remember one; one that is known already is fine."""

    def remove(self, rule_id: str) -> bool:
        """Forget one; False when there is none of this id."""

    def broken(self) -> Sequence[BrokenRule]:
        """Those that are kept but not in force."""

    def listed(self) -> Sequence[tuple[Rule, bool]]:
        """Those in force and those that are switched off, in one order; each with whether it is in force."""

    def switch(self, rule_id: str, on: bool) -> bool:
        """Put one into force or out of it; False when there is none of this id."""

    def replace(self, rule_id: str, rule: Rule) -> bool:
        """Put another in the place of one; False when there is none of this id."""


@dataclass(frozen=True, kw_only=True)
class BrokenRule:
    """A rule that is kept and makes no sense, or does not mean what its examples say."""

    id: str
    rule: str
    """As it is kept."""
    reason: str


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
        self._off: set[str] = set()

    def all(self) -> Sequence[Rule]:
        """Those there are."""
        return tuple(rule for rule in self._rules.values() if rule.id not in self._off)

    def add(self, rule: Rule) -> None:
        """Remember one."""
        self._rules[rule.id] = rule

    def remove(self, rule_id: str) -> bool:
        """Forget one."""
        return self._rules.pop(rule_id, None) is not None

    def broken(self) -> Sequence[BrokenRule]:
        """None: what is not in order is not taken in."""
        return ()

    def listed(self) -> Sequence[tuple[Rule, bool]]:
        """Those there are, in force or not."""
        return tuple((rule, rule.id not in self._off) for rule in self._rules.values())

    def switch(self, rule_id: str, on: bool) -> bool:
        """Put one into force or out of it."""
        if rule_id not in self._rules:
            return False
        (self._off.discard if on else self._off.add)(rule_id)
        return True

    def replace(self, rule_id: str, rule: Rule) -> bool:
        """Put another in the place of one."""
        if rule_id not in self._rules:
            return False
        self._rules = {
            (rule.id if known == rule_id else known): (rule if known == rule_id else one)
            for known, one in self._rules.items()
        }
        return True
