"""Types are read from JSON Schemas of any quality, and nothing that may fit is refused."""

from __future__ import annotations

import random
from typing import Any

import pytest

from toolcrib.schema.value_types import (
    Missing,
    ValueType,
    as_schema,
    fits,
    part_of,
    value_type,
)

POINT = {"type": "object", "properties": {"x": {"type": "number"}}, "additionalProperties": False}
SCHEMA = {
    "type": "object",
    "properties": {
        "point": {"$ref": "#/$defs/Point"},
        "maybe": {"anyOf": [{"$ref": "#/$defs/Point"}, {"type": "null"}]},
        "either": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "boolean"}}]},
        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]},
        "joined": {"allOf": [{"$ref": "#/$defs/Point"}, {"properties": {"y": {"type": "string"}}}]},
        "free": {"type": "object", "additionalProperties": {"type": "number"}},
        "named": {"type": "object", "patternProperties": {"^[a-z]+$": {"type": "number"}}},
        "choice": {"enum": ["a", 1]},
        "fixed": {"const": True},
        "self": {"$ref": "#"},
        "anything": {},
        "open": {"type": "object", "properties": {"a": {}}},
    },
    "additionalProperties": False,
    "$defs": {"Point": POINT},
}


def at(*path: str | int) -> ValueType | Missing:
    found: ValueType | Missing = value_type(SCHEMA)
    for part in path:
        assert isinstance(found, ValueType)
        found = part_of(found, part)
    return found


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (("point", "x"), "a number"),
        (("maybe", "x"), "a number"),
        (("either",), "a list or a string"),
        (("either", 3), "true or false"),
        (("pair", 1), "a number"),
        (("pair", 7), "any value"),
        (("joined", "x"), "a number"),
        (("joined", "y"), "a string"),
        (("free", "any name"), "a number"),
        (("named", "abc"), "a number"),
        (("choice",), "a number or a string"),
        (("fixed",), "true or false"),
        (("self", "self", "point", "x"), "a number"),
        (("anything", "at", 3, "all"), "any value"),
    ],
)
def test_a_path_leads_to_a_type(path: tuple[str | int, ...], shown: str) -> None:
    assert str(at(*path)) == shown


@pytest.mark.parametrize(
    ("path", "names", "certain"),
    [(("pont",), 12, True), (("point", "z"), 1, True), (("maybe", "z"), 1, True), (("open", "b"), 1, False)],
)
def test_a_missing_part_is_named_with_what_there_is(path: tuple[str, ...], names: int, certain: bool) -> None:
    found = at(*path)

    assert isinstance(found, Missing)
    assert (found.part, len(found.names), found.certain) == (path[-1], names, certain)


@pytest.mark.parametrize(
    ("expected", "given", "expected_to_fit"),
    [
        ({"type": "number"}, {"type": "integer"}, True),
        ({"type": "integer"}, {"type": "number"}, True),
        ({"type": "string"}, {"type": "number"}, True),
        ({"type": "number"}, {"type": "string"}, False),
        ({"type": "string"}, {"type": "boolean"}, False),
        ({"type": "number"}, {"type": ["string", "number"]}, True),
        ({"type": "number"}, {"type": "null"}, True),
        ({}, {"type": "object"}, True),
        ({"type": "object"}, {}, True),
        (
            {"type": "array", "items": {"type": "number"}},
            {"type": "array", "items": {"type": "object"}},
            False,
        ),
        ({"type": "array", "items": {"type": "number"}}, {"type": "array"}, True),
        ({"type": "array", "items": {"type": "number"}}, {"type": "object"}, False),
    ],
)
def test_a_type_fits_if_a_value_of_it_may(expected: Any, given: Any, expected_to_fit: bool) -> None:
    assert fits(value_type(expected), value_type(given)) is expected_to_fit


def test_a_type_becomes_a_schema_that_keeps_its_references() -> None:
    whole = value_type(SCHEMA)
    inner = part_of(whole, "maybe")
    assert isinstance(inner, ValueType)

    again = value_type({"type": "object", "properties": {"copied": as_schema(inner)}})
    copied = part_of(again, "copied")

    assert isinstance(copied, ValueType)
    assert str(part_of(copied, "x")) == "a number"


def test_a_schema_that_unfolds_to_millions_is_not_unfolded() -> None:
    definitions = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 40} for n in range(20)}

    assert str(value_type({"$ref": "#/$defs/d0", "$defs": definitions})) == "any value"
    assert str(value_type({"anyOf": [{"$ref": "#"}] * 40})) == "any value"


WORDS = [
    "type",
    "properties",
    "items",
    "anyOf",
    "oneOf",
    "allOf",
    "$ref",
    "enum",
    "const",
    "$defs",
    "$id",
    "a",
    "prefixItems",
]
WORDS += ["additionalProperties", "patternProperties"]


def any_schema(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(8 if depth < 5 else 4)
    if kind < 4:
        return rng.choice(
            [None, True, False, 1, "string", "object", "array", "#", "#/$defs/a", "#/properties/a", "nothing"]
        )
    if kind == 4:
        return [any_schema(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(WORDS): any_schema(rng, depth + 1) for _ in range(rng.randrange(5))}


def test_any_schema_is_read() -> None:
    rng = random.Random(18)
    for _ in range(2000):
        one, other = value_type(any_schema(rng)), value_type(any_schema(rng))
        for part in ("a", 0, -1):
            found = part_of(one, part)
            assert str(found)
            if isinstance(found, ValueType):
                assert isinstance(fits(found, other), bool)
                value_type(as_schema(found))
