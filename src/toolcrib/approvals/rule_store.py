"""The user's approval rules as the gate reads and changes them; `store` keeps them on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from toolcrib.approvals.rule import Rule


class RuleStore(Protocol):
    @property
    def active(self) -> Sequence[Rule]:
        """The rules that apply, in the order in which they were made."""

    def add(self, rule: Rule) -> None:
        """Add a rule; adding it again changes nothing."""

    def remove(self, rule_id: str) -> bool:
        """Remove a rule; False if the id is unknown."""

    def broken(self) -> Sequence[BrokenRule]:
        """Stored rules that cannot be used."""

    def listed(self) -> Sequence[tuple[Rule, bool]]:
        """Active and disabled rules in one order, each with whether it is active."""

    def switch(self, rule_id: str, on: bool) -> bool:
        """Enable or disable a rule; False if the id is unknown."""

    def replace(self, rule_id: str, rule: Rule) -> bool:
        """Replace a rule; False if the id is unknown."""

    async def stored(self) -> bool:
        """Wait until the changes so far are stored; False if that takes long."""


@dataclass(frozen=True, kw_only=True)
class BrokenRule:
    """A stored rule that is invalid or contradicts its examples."""

    id: str
    rule: str
    """As stored."""
    reason: str


class RulesInMemory:
    """Rules for the lifetime of the process."""

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        self._rules = {rule.id: rule for rule in rules}
        self._off: set[str] = set()

    @property
    def active(self) -> Sequence[Rule]:
        return tuple(rule for rule in self._rules.values() if rule.id not in self._off)

    def add(self, rule: Rule) -> None:
        self._rules[rule.id] = rule

    def remove(self, rule_id: str) -> bool:
        return self._rules.pop(rule_id, None) is not None

    async def stored(self) -> bool:
        """There is nothing to store."""
        return True

    def broken(self) -> Sequence[BrokenRule]:
        return ()

    def listed(self) -> Sequence[tuple[Rule, bool]]:
        return tuple((rule, rule.id not in self._off) for rule in self._rules.values())

    def switch(self, rule_id: str, on: bool) -> bool:
        if rule_id not in self._rules:
            return False
        (self._off.discard if on else self._off.add)(rule_id)
        return True

    def replace(self, rule_id: str, rule: Rule) -> bool:
        if rule_id not in self._rules:
            return False
        self._rules = {
            (rule.id if known == rule_id else known): (rule if known == rule_id else known_rule)
            for known, known_rule in self._rules.items()
        }
        return True
