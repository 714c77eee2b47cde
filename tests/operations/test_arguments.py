"""Words become arguments by the tool's own schema; what does not fit stays text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.errors import UsageError
from toolcrib.operations.calls import Word, typed_arguments


def typed(text: str, schema: Any, **root: Any) -> Any:
    return typed_arguments({"properties": {"x": schema}, **root}, [Word(key="x", text=text)])["x"]


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, "12", "12"),
        ({"type": "string"}, "true", "true"),
        ({"type": "string"}, '["a"]', '["a"]'),
        ({"type": "integer"}, "12", 12),
        ({"type": "integer"}, "-3", -3),
        ({"type": "integer"}, "twelve", "twelve"),
        ({"type": "integer"}, "1.5", "1.5"),
        ({"type": "number"}, "12", 12),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "number"}, "1e3", 1000.0),
        ({"type": "number"}, "nan", "nan"),
        ({"type": "number"}, "1e999", "1e999"),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, "No", False),
        ({"type": "boolean"}, "0", False),
        ({"type": "boolean"}, "perhaps", "perhaps"),
        ({"type": "array", "items": {"type": "integer"}}, "[1, 2]", [1, 2]),
        ({"type": "array", "items": {"type": "integer"}}, "1", [1]),
        ({"type": "array", "items": {"type": "string"}}, "a,b", ["a,b"]),
        ({"type": "array"}, "x", ["x"]),
        ({"type": "object"}, '{"a": [1]}', {"a": [1]}),
        ({"type": "object"}, "[1]", "[1]"),
        ({"type": "null"}, "null", None),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": ["string", "null"]}, "null", "null"),
        ({"type": ["string", "integer"]}, "5", 5),
        ({"type": ["string", "boolean"]}, "yes", "yes"),
        ({"type": ["string", "boolean"]}, "true", True),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "5", 5),
        ({"oneOf": [{"type": "boolean"}, {"type": "object"}]}, "on", True),
        ({"enum": [1, "2", True]}, "1", 1),
        ({"enum": [1, "2", True]}, "2", "2"),
        ({"enum": [1, "2", True]}, "true", True),
        ({"enum": ["a"]}, "5", "5"),
        ({}, "5", 5),
        ({}, "yes", "yes"),
        (True, "5", 5),
        ({"$ref": "#/$defs/number"}, "5", 5),
        ({"$ref": "#/$defs/missing"}, "text", "text"),
        ({"$ref": "#/$defs/endless"}, "text", "text"),
    ],
)
def test_a_value_is_typed_by_its_schema(schema: Any, text: str, value: Any) -> None:
    definitions = {"number": {"type": "integer"}, "endless": {"$ref": "#/$defs/endless"}}

    found = typed(text, schema, **{"$defs": definitions})

    assert found == value
    assert type(found) is type(value)


def test_a_repeated_key_is_a_list_where_the_schema_has_one() -> None:
    words = [Word(key="x", text="1"), Word(key="x", text="2"), Word(key="x", value=3)]
    schema = {"properties": {"x": {"type": "array", "items": {"type": "integer"}}}}

    assert typed_arguments(schema, words) == {"x": [1, 2, 3]}


def test_a_repeated_key_is_refused_where_one_value_is_wanted() -> None:
    with pytest.raises(UsageError, match="2 times"):
        typed_arguments({"properties": {"x": {"type": "string"}}}, [Word(key="x", text="1")] * 2)


def test_a_forced_value_is_taken_as_it_is() -> None:
    assert typed_arguments({"properties": {"x": {"type": "string"}}}, [Word(key="x", value=[1])]) == {
        "x": [1]
    }


def test_an_unknown_key_is_typed_by_what_further_ones_may_be() -> None:
    schema = {"properties": {}, "additionalProperties": {"type": "integer"}}

    assert typed_arguments(schema, [Word(key="x", text="5")]) == {"x": 5}


@given(st.text(), st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "null"]))
def test_no_text_is_too_odd(text: str, kind: str) -> None:
    typed(text, {"type": kind})


@given(st.text())
def test_a_string_stays_as_it_was_typed(text: str) -> None:
    assert typed(text, {"type": "string"}) == text
