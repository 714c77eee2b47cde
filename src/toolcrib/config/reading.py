"""Reads frozen dataclasses out of JSON: each field says what it takes, an error where and what was wanted.

What has to be read before the first server can start is read with this and not with pydantic, which alone
took a third of the time until then (docs/decisions/0003-reading-by-hand.md).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import MISSING
from typing import Any, Protocol, Self

from toolcrib.config.fields import describe
from toolcrib.config.parsing import KeyPath

KIND = "kind"
"""Where a field's kind lies in its metadata."""


class Unfit(ValueError):
    """A value is not what its field takes; `said` goes on where the name of the key ends."""

    def __init__(self, path: KeyPath, said: str) -> None:
        super().__init__(f"{'.'.join(map(str, path))} {said}".strip())
        self.path = path
        self.said = said


class Kind(Protocol):
    """What a field takes."""

    def read(self, value: Any, path: KeyPath) -> Any:
        """The field's value; raises `Unfit`."""


class Section:
    """A frozen dataclass whose fields were made by `config.kinds`; in JSON its names are camelCase.

    `null` counts as absent, unknown keys are passed over, and a name may as well be in snake_case.
    """

    @classmethod
    def read(cls, raw: Any, path: KeyPath = ()) -> Self:
        """What the JSON says, checked; raises `Unfit` for the first that is wrong."""
        if not isinstance(raw, Mapping):
            raise unfit(path, "an object: { … }", raw)
        given: dict[str, Any] = {}
        for one in declared(cls):
            spellings = (in_json(one.name), one.name)
            key = next((key for key in spellings if raw.get(key) is not None), None)
            if key is not None:
                given[one.name] = one.metadata[KIND].read(raw[key], (*path, key))
            elif one.default is MISSING and one.default_factory is MISSING:
                raise Unfit((*path, spellings[0]), "is missing")
        return cls(**given)

    def written(self) -> dict[str, Any]:
        """All of it, as JSON says it."""
        return {in_json(one.name): _written(getattr(self, one.name)) for one in declared(type(self))}


def declared(section: type[Section]) -> tuple[dataclasses.Field[Any], ...]:
    """Its fields."""
    return dataclasses.fields(section)  # type: ignore[arg-type] # whoever inherits is a dataclass


def in_json(name: str) -> str:
    """A field's name as the file spells it."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def unfit(path: KeyPath, expected: str, value: Any) -> Unfit:
    """The error about a value, of which only the kind is told: it may be secret."""
    found = describe(value)
    instead = "" if expected.startswith(found) else f", not {found}"
    return Unfit(path, f"must be {expected}{instead}")


def _written(value: Any) -> Any:
    if isinstance(value, Section):
        return value.written()
    if isinstance(value, Mapping):
        return {name: _written(inner) for name, inner in value.items()}
    return list(value) if isinstance(value, tuple) else value
