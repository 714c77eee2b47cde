"""The types of values, from JSON Schemas: what a reference leads to, whether it fits where it is used, and
the names of types in messages.

Only what is certainly wrong counts as wrong: a schema that says nothing accepts everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.schema.json_schema import follow

Schema = Mapping[str, Any]
ALL_TYPES = frozenset({"string", "number", "boolean", "array", "object", "null"})
MOST_ALTERNATIVES = 40
DEEPEST = 12
MOST_OPENED = 500
_NAMES = {"array": "a list", "object": "an object", "null": "null", "boolean": "true or false"}


@dataclass(frozen=True)
class Form:
    """One alternative of a type: a schema, and the document that its `$ref`s are relative to."""

    schema: Schema
    root: Schema

    @property
    def types(self) -> frozenset[str]:
        declared = self.schema.get("type")
        if isinstance(declared, str):
            return _types([declared])
        if isinstance(declared, list):
            return _types(declared)
        if isinstance(self.schema.get("enum"), list):
            return frozenset(type_of(value) for value in self.schema["enum"])
        if "const" in self.schema:
            return frozenset({type_of(self.schema["const"])})
        return frozenset({"object"}) if isinstance(self.schema.get("properties"), Mapping) else ALL_TYPES

    def inside(self, schema: Any) -> ValueType:
        return _Opener().open(schema, self.root) if isinstance(schema, Mapping) else UNKNOWN


@dataclass(frozen=True)
class ValueType:
    """What a value may be; without forms, nothing is known about it."""

    forms: tuple[Form, ...] = ()

    @property
    def types(self) -> frozenset[str]:
        """The JSON types that it may have, without null, which every reference may lead to."""
        found = frozenset[str]().union(*(form.types for form in self.forms)) if self.forms else ALL_TYPES
        return found - {"null"}

    def __str__(self) -> str:
        names = sorted(_NAMES.get(name, f"a {name}") for name in self.types)
        return "any value" if self.types == ALL_TYPES - {"null"} else " or ".join(names) or "null"


UNKNOWN = ValueType()


@dataclass(frozen=True)
class Missing:
    """A part of a path leads nowhere."""

    part: str
    reason: str
    names: tuple[str, ...] = ()
    """The parts that exist there."""
    certain: bool = True
    """False if the schema allows more than it lists."""


def value_type(schema: Any) -> ValueType:
    """The type that a whole JSON Schema describes."""
    return _Opener().open(schema, schema) if isinstance(schema, Mapping) else UNKNOWN


def part_of(whole: ValueType, part: str | int) -> ValueType | Missing:
    """The type of a field or an item."""
    found = [_step(form, part) for form in whole.forms if form.types != {"null"}]
    known = [type_ for type_ in found if isinstance(type_, ValueType)]
    if not known:
        return _clearest([reason for reason in found if isinstance(reason, Missing)])
    if any(not type_.forms for type_ in known):
        return UNKNOWN
    return ValueType(tuple(form for type_ in known for form in type_.forms)[:MOST_ALTERNATIVES])


def fits(expected: ValueType, given: ValueType, depth: int = 0) -> bool:
    """Whether a value of one type may be used where another is expected."""
    wanted = expected.types
    if "string" in wanted:
        wanted |= {"number"}  # numbers are written as text
    if not wanted or not given.types:
        return True
    common = wanted & given.types
    if common != {"array"} or depth > DEEPEST:
        return bool(common)
    inner, given_inner = part_of(expected, 0), part_of(given, 0)
    if isinstance(inner, Missing) or isinstance(given_inner, Missing):
        return True
    return fits(inner, given_inner, depth + 1)


def type_of(value: Any) -> str:
    """The JSON type of a value; whole numbers are numbers."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"


def as_schema(given: ValueType) -> Schema:
    """One JSON Schema for a type; the `$id` of a form makes it the root of its own `$ref`s."""
    schemas = [_alone(form) for form in given.forms]
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas} if schemas else {}


def _alone(form: Form) -> Schema:
    defined = {key: form.root[key] for key in ("$defs", "definitions") if key in form.root}
    return {"$id": "urn:part", **defined, **form.schema}


def _types(names: list[Any]) -> frozenset[str]:
    known = {"number" if name == "integer" else name for name in names if isinstance(name, str)}
    return frozenset(known & ALL_TYPES) or ALL_TYPES


class _Opener:
    """Follows references and separates alternatives, up to a limit: schemas come from servers of others."""

    def __init__(self) -> None:
        self._left = MOST_OPENED

    def open(self, schema: Schema, root: Schema, depth: int = 0) -> ValueType:
        self._left -= 1
        if depth > DEEPEST or self._left < 0:
            return UNKNOWN
        root = schema if "$id" in schema else root
        target = schema.get("$ref")
        if isinstance(target, str):
            found = follow(root, target)
            return self.open(found, root, depth + 1) if isinstance(found, Mapping) else UNKNOWN
        for key in ("anyOf", "oneOf"):
            branches = schema.get(key)
            if isinstance(branches, list) and branches:
                return self._alternatives(branches, root, depth)
        merged = self._merged(schema, root, depth)
        return ValueType((Form(merged, root),)) if merged else UNKNOWN

    def _alternatives(self, branches: list[Any], root: Schema, depth: int) -> ValueType:
        forms: list[Form] = []
        for branch in branches:
            opened = self.open(branch, root, depth + 1) if isinstance(branch, Mapping) else UNKNOWN
            forms += opened.forms
            if not opened.forms or len(forms) > MOST_ALTERNATIVES:
                return UNKNOWN
        return ValueType(tuple(forms))

    def _merged(self, schema: Schema, root: Schema, depth: int) -> Schema:
        """A schema with the properties of its `allOf`; empty if they are not plain."""
        branches = schema.get("allOf")
        if not isinstance(branches, list):
            return schema
        merged: dict[str, Any] = {key: value for key, value in schema.items() if key != "allOf"}
        for branch in branches:
            opened = self.open(branch, root, depth + 1) if isinstance(branch, Mapping) else UNKNOWN
            if len(opened.forms) != 1:
                return {}
            merged = _joined(opened.forms[0].schema, merged)
        return merged


def _joined(first: Schema, second: Schema) -> dict[str, Any]:
    properties = {**_properties(first), **_properties(second)}
    return {**first, **second, **({"properties": properties} if properties else {})}


def _step(form: Form, part: str | int) -> ValueType | Missing:
    if isinstance(part, int) and "array" in form.types:
        return _item(form, part)
    if "object" in form.types:
        return _field(form, str(part))
    known = ValueType((form,))
    name = f"item {part}" if isinstance(part, int) else f"field {part!r}"
    return Missing(str(part), f"{known} has no {name}")


def _item(form: Form, index: int) -> ValueType:
    first = form.schema.get("prefixItems")
    if isinstance(first, list) and 0 <= index < len(first):
        return form.inside(first[index])
    return form.inside(form.schema.get("items"))


def _field(form: Form, name: str) -> ValueType | Missing:
    properties, others = _properties(form.schema), _others(form.schema)
    if name in properties:
        return form.inside(properties[name])
    if isinstance(others, Mapping):
        return form.inside(others)
    if others is True or (not properties and others is not False):
        return UNKNOWN
    names = tuple(str(key) for key in properties)
    return Missing(name, f"there is no {name!r}", names, certain=others is False)


def _others(schema: Schema) -> Any:
    """The schema of fields that are not listed."""
    patterns = schema.get("patternProperties")
    if isinstance(patterns, Mapping) and len(patterns) == 1:
        return next(iter(patterns.values()))
    return schema.get("additionalProperties")


def _properties(schema: Schema) -> Mapping[str, Any]:
    found = schema.get("properties")
    return found if isinstance(found, Mapping) else {}


def _clearest(missing: list[Missing]) -> ValueType | Missing:
    """The reason that names what exists; of a type about which nothing is known, everything may exist."""
    return max(missing, key=lambda reason: len(reason.names)) if missing else UNKNOWN
