"""A user's rule as data: its patterns for arguments (equal, like with `*`, under a folder), its effect, scope
and id, and examples that prove the match. The matching is in `rule_match.py`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from toolcrib.schema.approvals import Effect, Scope
from toolcrib.tools.definitions import digest


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Pattern(_Frozen):
    """What an argument must be: this value, text like this (`*` and `?`; commands word by word), a path in
    this folder, or anything."""

    equals: Any = None
    like: str | None = None
    under: str | None = None
    """An absolute, normalised folder; for allow rules with links followed."""
    any: bool = False
    """Any value, or none."""

    @model_validator(mode="before")
    @classmethod
    def _one_of_them(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        said = ("equals" in values, values.get("like") is not None, values.get("under") is not None)
        if sum((*said, values.get("any") is True)) != 1:
            raise ValueError("a pattern has exactly one of 'equals', 'like', 'under' and 'any'")
        return values

    @field_validator("under")
    @classmethod
    def _from_the_root(cls, folder: str | None) -> str | None:
        if folder is not None and (not folder.startswith("/") or os.path.normpath(folder) != folder):
            raise ValueError("a folder must be an absolute, normalised path")
        return folder

    @property
    def exact(self) -> bool:
        return self.like is None and self.under is None and not self.any

    def as_json(self) -> dict[str, Any]:
        if self.any:
            return {"any": True}
        if self.under is not None:
            return {"under": self.under}
        return {"equals": self.equals} if self.like is None else {"like": self.like}


class Examples(_Frozen):
    """Arguments that the rule must match, and others that it must not."""

    match: tuple[dict[str, Any], ...] = ()
    not_match: tuple[dict[str, Any], ...] = ()


class Rule(_Frozen):
    """One rule; `server` and `tool` may contain `*`; an empty server means tools without a server."""

    effect: Effect
    server: str = "*"
    tool: str = "*"
    arguments: dict[str, Pattern] = Field(default_factory=dict)
    closed: bool = False
    """No other arguments are allowed, except those that do not affect what is done."""
    exact: bool = False
    """For closed rules: null arguments count as given. Rules stored before this field existed keep working
    without it."""
    definition: str = ""
    """Hash of the approved definition; a changed tool asks again."""
    scope: Scope = "always"
    within: str = ""
    """The chat or the project's folder, for rules of that scope."""
    why: str = ""
    examples: Examples = Examples()

    @property
    def id(self) -> str:
        unsaid = set() if self.exact else {"exact"}  # ids of older rules were computed without it
        said = self.model_dump(exclude={"why", "examples", "arguments", *unsaid})
        return digest({**said, "arguments": {n: _identity(p) for n, p in self.arguments.items()}})[:12]

    def as_json(self) -> dict[str, Any]:
        """As shown and stored; defaults are left out."""
        shown = self.model_dump(exclude_defaults=True)
        patterns = {name: pattern.as_json() for name, pattern in self.arguments.items()}
        return {"id": self.id, **shown, **({"arguments": patterns} if patterns else {})}


def _identity(pattern: Pattern) -> dict[str, Any]:
    """Unchanged for the first kinds of patterns, because rules are stored by id."""
    if pattern.any or pattern.under is not None:
        return pattern.as_json()
    return {"equals": pattern.equals, "like": pattern.like}


def read_rule(stored: Mapping[str, Any]) -> Rule:
    """Reads a rule written by `as_json`; raises pydantic's `ValidationError`."""
    return Rule.model_validate({key: value for key, value in stored.items() if key != "id"})
