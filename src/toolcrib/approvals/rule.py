"""A person's rule: which calls it speaks of, what it says, and examples that prove that it means those."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from toolcrib.schema.approvals import Effect, Scope
from toolcrib.tools.definitions import digest


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Pattern(_Frozen):
    """What an argument must be: just this value, or text like this (`*` and `?`; commands word by word)."""

    equals: Any = None
    like: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _one_of_them(cls, values: Any) -> Any:
        if isinstance(values, Mapping) and ("equals" in values) == (values.get("like") is not None):
            raise ValueError("a pattern has either 'equals' or 'like'")
        return values

    @property
    def exact(self) -> bool:
        """Just one value."""
        return self.like is None


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
        return digest(self.model_dump(exclude={"why", "examples"}))[:12]

    def as_json(self) -> dict[str, Any]:
        """As it is shown and stored; what says nothing is left out."""
        shown = self.model_dump(exclude_defaults=True)
        patterns = {name: _pattern_json(pattern) for name, pattern in self.arguments.items()}
        return {"id": self.id, **shown, **({"arguments": patterns} if patterns else {})}


def _pattern_json(pattern: Pattern) -> dict[str, Any]:
    return {"equals": pattern.equals} if pattern.exact else {"like": pattern.like}


def read_rule(stored: Mapping[str, Any]) -> Rule:
    """The rule that `as_json` showed; raises pydantic's `ValidationError`."""
    return Rule.model_validate({key: value for key, value in stored.items() if key != "id"})
