"""A user's rule: which calls it matches, its effect, and examples that prove the match."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from toolcrib.schema.approvals import Effect, Scope
from toolcrib.tools.definitions import digest

_HIDING = re.compile(
    r"[\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    r"\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_PLAIN = re.compile(r"[\w.@+/-]+")
"""Paths that need no quotes."""
HASH_SHOWN = 7
"""Characters shown of a definition's hash."""


def rule_words(rule: Rule) -> str:
    """`allow files.write when path is "a.txt" and nothing else`; nothing is cut.

    Paths in the user's home are written `~/…` without quotes.
    """
    named = ".".join(part for part in (rule.server, rule.tool) if part)
    bound = [_condition(name, condition) for name, condition in rule.arguments.items() if not condition.any]
    free = [name for name, condition in rule.arguments.items() if condition.any]
    when = f" when {' and '.join(bound)}" if bound else ""
    if free:
        when += f" with any {' and any '.join(free)}"
    if rule.closed:
        when += " and nothing else" if when else " without arguments"
    return revealed(f"{rule.effect} {named}{when}")


def homely(path: str) -> str | None:
    """A path in the user's home as `~/…`; None for others, and if it needs quotes."""
    home = str(Path.home())
    if home == "/" or not path.startswith(f"{home}/") or not _PLAIN.fullmatch(path):
        return None
    return f"~{path[len(home) :]}"


def rule_place(rule: Rule) -> str:
    """Where the rule applies and to which definition: `project exporter · definition 9f3c1ae`."""
    places = {"chat": "this chat", "project": f"project {Path(rule.within).name or rule.within}"}
    parts = [places.get(rule.scope, "everywhere")]
    if rule.definition:
        parts.append(f"definition {rule.definition[:HASH_SHOWN]}")
    return revealed(" · ".join(parts))


def _condition(name: str, pattern: Pattern) -> str:
    if pattern.under is not None:
        return f"{name} in {_all_of(pattern.under)}"
    if pattern.like is not None:
        return f"{name} is like {json.dumps(pattern.like, ensure_ascii=False)}"
    value = pattern.equals
    known = homely(value) if isinstance(value, str) else None
    return f"{name} is {known or json.dumps(value, ensure_ascii=False)}"


def _all_of(folder: str) -> str:
    whole = f"{folder.rstrip('/')}/**"
    known = homely(folder)
    if known is not None:
        return f"{known}/**"
    return whole if _PLAIN.fullmatch(folder) else json.dumps(whole, ensure_ascii=False)


def rule_text(rule: Rule) -> str:
    """The rule as JSON, with hidden characters escaped."""
    return revealed(json.dumps(rule.as_json(), ensure_ascii=False))


def revealed(text: str) -> str:
    """JSON text with every character that could hide or rearrange others escaped; still the same JSON."""
    return _HIDING.sub(lambda match: json.dumps(match.group())[1:-1], text)


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
