"""A person's rule: which calls it speaks of, what it says, and examples that prove that it means those."""

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
    """What an argument must be: just this value, text like this (`*` and `?`; commands word by word), a path
    in this folder or below it, or anything."""

    equals: Any = None
    like: str | None = None
    under: str | None = None
    """A folder, from the root on and without detours; of one that allows, with its links followed."""
    any: bool = False
    """Whatever it is, and whether it is given or not."""

    @model_validator(mode="before")
    @classmethod
    def _one_of_them(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        said = ("equals" in values, values.get("like") is not None, values.get("under") is not None)
        if sum((*said, values.get("any") is True)) != 1:
            raise ValueError("a pattern has just one of 'equals', 'like', 'under' and 'any'")
        return values

    @field_validator("under")
    @classmethod
    def _from_the_root(cls, folder: str | None) -> str | None:
        if folder is not None and (not folder.startswith("/") or os.path.normpath(folder) != folder):
            raise ValueError("a folder is written from the root on, without detours")
        return folder

    @property
    def exact(self) -> bool:
        """Just one value."""
        return self.like is None and self.under is None and not self.any

    def as_json(self) -> dict[str, Any]:
        """As it is shown and stored."""
        if self.any:
            return {"any": True}
        if self.under is not None:
            return {"under": self.under}
        return {"equals": self.equals} if self.like is None else {"like": self.like}


class Examples(_Frozen):
    """Arguments that the rule must speak of, and others that it must not."""

    match: tuple[dict[str, Any], ...] = ()
    not_match: tuple[dict[str, Any], ...] = ()


class Rule(_Frozen):
    """One rule; `server` and `tool` may hold `*`, and a tool without a server is meant by an empty one."""

    effect: Effect
    server: str = "*"
    tool: str = "*"
    arguments: dict[str, Pattern] = Field(default_factory=dict)
    closed: bool = False
    """No further arguments than those named, save such as change nothing about what is done."""
    exact: bool = False
    """Of a closed rule: an argument that is null counts as given. Rules that were stored before this field
    existed do not name such arguments, so that they go on without it."""
    definition: str = ""
    """The hash of the tool's definition that was agreed to; a tool that changed is asked about again."""
    scope: Scope = "always"
    within: str = ""
    """The chat or the project's folder, for rules of that scope."""
    why: str = ""
    examples: Examples = Examples()

    @property
    def id(self) -> str:
        """The same for the same rule."""
        unsaid = set() if self.exact else {"exact"}  # rules are stored by the ids that they had without it
        said = self.model_dump(exclude={"why", "examples", "arguments", *unsaid})
        return digest({**said, "arguments": {n: _identity(p) for n, p in self.arguments.items()}})[:12]

    def as_json(self) -> dict[str, Any]:
        """As it is shown and stored; what says nothing is left out."""
        shown = self.model_dump(exclude_defaults=True)
        patterns = {name: pattern.as_json() for name, pattern in self.arguments.items()}
        return {"id": self.id, **shown, **({"arguments": patterns} if patterns else {})}


def _identity(pattern: Pattern) -> dict[str, Any]:
    """Stays what it was for kinds of patterns that were there first: rules are stored by their ids."""
    if pattern.any or pattern.under is not None:
        return pattern.as_json()
    return {"equals": pattern.equals, "like": pattern.like}


def read_rule(stored: Mapping[str, Any]) -> Rule:
    """The rule that `as_json` showed; raises pydantic's `ValidationError`."""
    return Rule.model_validate({key: value for key, value in stored.items() if key != "id"})
