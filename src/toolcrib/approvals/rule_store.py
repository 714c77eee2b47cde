"""The user's approval rules as the gate reads and adds to them; `store` keeps them on disk."""

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

    @property
    def active(self) -> Sequence[Rule]:
        return tuple(self._rules.values())

    def add(self, rule: Rule) -> None:
        self._rules[rule.id] = rule
