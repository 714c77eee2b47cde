"""How tables are declared. A feature declares its own in the module that `Feature.tables` names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from toolcrib.feature import features


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table that is copied to another database."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    decided: str = ""
    """The column with the time of a decision; empty for tables of records."""


@dataclass(frozen=True, kw_only=True)
class SignedTable:
    """A table of decisions; `title` is one of its rows in words."""

    title: str
    key: tuple[str, ...]
    columns: tuple[str, ...]
    """All columns with a meaning, the key included."""
    shared_only: bool = False
    open_states: tuple[str, ...] = ()
    """If the table has a column `state`: rows in another state are over, and only a record."""

    def is_over(self, state: object) -> bool:
        return bool(self.open_states) and state not in self.open_states


@dataclass(frozen=True, kw_only=True)
class TableStep:
    """A change of a feature's tables, which is applied if a database lacks this column.

    Nothing else counts the steps, so a feature may be installed later, or be removed for a while.
    """

    adds: tuple[str, str]
    """A table and its column."""
    sqlite: tuple[str, ...]
    postgres: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class FeatureTables:
    """The tables of a feature. A released step is never changed; changes are new steps at the end."""

    steps: tuple[TableStep, ...]
    signed: Mapping[str, SignedTable] = field(default_factory=dict)
    copied: tuple[Table, ...] = ()

    def applied(self, has_column: Callable[[str, str], bool]) -> int:
        """How many of its steps a database has."""
        return next(
            (number for number, step in enumerate(self.steps) if not has_column(*step.adds)), len(self.steps)
        )


@cache
def feature_tables() -> tuple[FeatureTables, ...]:
    """Those of all installed features, each as `TABLES` of its module."""
    return tuple(feature.module(feature.tables).TABLES for feature in features() if feature.tables)
