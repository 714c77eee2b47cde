from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Mapping
from typing import Any

import pytest

from toolcrib.errors import InvalidArguments
from toolcrib.schema.tools import Tool
from toolcrib.tools.registry import Registry
from toolcrib.tools.validation import ArgumentChecker

SCHEMA = {
    "type": "object",
    "properties": {
        "amount": {"type": "number", "description": "How much to pay.", "examples": [9.5]},
        "currency": {"enum": ["EUR", "USD"]},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
        "note": {"anyOf": [{"type": "string", "maxLength": 10}, {"type": "null"}]},
        "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
    },
    "required": ["amount"],
    "additionalProperties": False,
    "$defs": {
        "Line": {
            "type": "object",
            "properties": {"name": {"type": "string", "description": "What it is."}},
            "required": ["name"],
        }
    },
}


def tool_with(schema: Mapping[str, Any]) -> Tool:
    registry = Registry()
    assert registry.put("shop", "mcp", [{"name": "pay", "inputSchema": schema}]) == []
    return registry.resolve("shop__pay")


def complaint(arguments: dict[Any, Any], schema: Mapping[str, Any] = SCHEMA) -> InvalidArguments:
    with pytest.raises(InvalidArguments) as caught:
        ArgumentChecker().check(tool_with(schema), arguments)
    return caught.value


@pytest.mark.parametrize(
    "arguments",
    [
        {"amount": 1},
        {"amount": 1.5, "currency": "EUR", "lines": [{"name": "x"}], "note": None, "code": "ABC"},
    ],
)
def test_fitting_arguments_pass(arguments: dict[str, Any]) -> None:
    ArgumentChecker().check(tool_with(SCHEMA), arguments)


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ({}, '"amount" is required', "amount: number — How much to pay. (for example 9.5)"),
        ({"amount": "ten"}, '"amount" must be a number, not a string', "amount: number — How much to pay."),
        ({"amount": 1, "currency": "DM"}, '"currency" must be one of "EUR", "USD"', 'one of "EUR", "USD"'),
        ({"amount": 1, "curency": "EUR"}, "unknown argument: curency", "Did you mean currency?"),
        ({"amount": 1, "xyz": 1}, "unknown argument: xyz", "Known arguments: amount, currency"),
        ({"amount": 1, "lines": [{}]}, '"lines[0].name" is required', "lines[0].name: string — What it is."),
        (
            {"amount": 1, "lines": [{"name": 5}]},
            '"lines[0].name" must be a string, not a number',
            "lines[0].name: string — What it is.",
        ),
        ({"amount": 1, "note": 5}, '"note" matches none of the allowed forms', "note: string | null"),
        ({"amount": 1, "code": "abc"}, '"code" does not match the pattern ^[A-Z]{3}$', "code: string"),
        ({"amount": True}, '"amount" must be a number, not a boolean', "amount: number"),
        ({"amount": 1, "lines": {}}, '"lines" must be a list, not an object', "lines: array"),
        ({1: 2}, "not valid JSON", ""),
    ],
)
def test_a_wrong_argument_is_named_and_its_schema_shown(
    arguments: dict[Any, Any], message: str, hint: str
) -> None:
    error = complaint(arguments)

    assert error.message.startswith("shop__pay: ")
    assert message in error.message
    assert hint in error.hint


def test_several_complaints_come_together_but_not_without_end() -> None:
    schema = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(100)}}

    error = complaint({f"p{n}": n for n in range(100)}, schema)

    assert error.message.count("must be") == 5
    assert len(error.message) < 500


def test_a_message_never_repeats_a_value() -> None:
    schema = {
        "type": "object",
        "properties": {
            "password": {"type": "integer"},
            "pin": {"const": "x"},
            "token": {"type": "string", "maxLength": 2},
            "key": {"not": {"type": "string"}},
            "list": {"type": "array", "uniqueItems": True},
        },
    }
    secret = "hunter2-hunter2"

    error = complaint(
        {"password": secret, "pin": secret, "token": secret, "key": secret, "list": [secret, secret]}, schema
    )

    assert secret not in error.message
    assert secret not in error.hint


def test_a_remote_reference_is_never_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        port = listener.getsockname()[1]
        checker = ArgumentChecker()
        tool = tool_with({"properties": {"a": {"$ref": f"http://127.0.0.1:{port}/schema.json"}}})

        checker.check(tool, {"a": 1})

        assert "not fetched" in checker.unusable(tool)
        with pytest.raises(BlockingIOError):
            listener.accept()


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": "http://example.com/own", "properties": {"a": {"type": "number"}}},
        {"properties": {"a": {"type": "float"}}},
        {"properties": {"a": {"type": "number", "examples": "1"}}},
        {"properties": {"a": {"type": "number", "minimum": 0, "exclusiveMinimum": True}}},
        {"properties": {"a": {"type": "number"}, "b": {"type": "array", "items": [{"type": "string"}]}}},
        {"properties": {"a": {"type": "number"}, "b": {"type": "string", "pattern": "[a-"}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"type": "number"}}},
    ],
)
def test_a_schema_of_another_draft_is_still_used(schema: dict[str, Any]) -> None:
    checker = ArgumentChecker()
    tool = tool_with(schema)

    checker.check(tool, {"a": 1})

    assert checker.unusable(tool) == ""
    with pytest.raises(InvalidArguments, match='"a" must be a number'):
        checker.check(tool, {"a": "one"})


def endless(levels: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {
        f"a{level}": {"anyOf": [{"$ref": f"#/$defs/a{level + 1}"}, {"$ref": f"#/$defs/a{level + 1}"}]}
        for level in range(levels)
    }
    definitions[f"a{levels}"] = {"type": "string"}
    return {"properties": {"x": {"$ref": "#/$defs/a0"}}, "$defs": definitions}


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(levels):
        schema = {"properties": {"x": schema}}
    return schema


@pytest.mark.parametrize("schema", [endless(60), deep(400)])
def test_a_schema_built_to_take_for_ever_is_not_run(schema: dict[str, Any]) -> None:
    checker = ArgumentChecker()
    tool = tool_with(schema)

    checker.check(tool, {"x": 1})

    assert "too complex" in checker.unusable(tool)


def test_a_pattern_that_cannot_be_run_to_its_end_blames_nobody() -> None:
    tool = tool_with({"properties": {"x": {"type": "string", "pattern": r"^(?:(a+)\1?)+$"}}})

    ArgumentChecker().check(tool, {"x": "a" * 5000 + "b"})


@pytest.mark.parametrize("schema", [{"$ref": "#"}, {"properties": {"x": {"$ref": "#"}}}])
def test_a_schema_that_contains_itself_is_checked(schema: dict[str, Any]) -> None:
    ArgumentChecker().check(tool_with(schema), {"x": {"x": {}}})


def test_each_definition_is_compiled_once_and_the_cache_stays_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("toolcrib.tools.validation._MAX_CACHED", 10)
    checker = ArgumentChecker()
    registry = Registry()
    definitions = [{"name": f"t{n}", "inputSchema": {"properties": {f"p{n}": {}}}} for n in range(30)]
    registry.put("shop", "mcp", definitions)

    for tool in registry.snapshot.enabled:
        checker.check(tool, {})

    assert len(checker._cache) == 10


NODE = {"$ref": "#/$defs/node"}
TWO_FORMS = [
    {"type": "object", "properties": {"c": NODE}, "required": ["a"]},
    {"type": "object", "properties": {"c": NODE}, "required": ["b"]},
]


def nested(levels: int, leaf: Any = 5) -> dict[str, Any]:
    value: Any = leaf
    for _ in range(levels):
        value = {"c": value, "b": 1}
    return {"n": value}


@pytest.mark.parametrize("levels", [3, 10, 60])
@pytest.mark.parametrize(
    "node",
    [
        {"anyOf": [*TWO_FORMS, {"type": "null"}]},
        {"oneOf": TWO_FORMS},
        {"allOf": [{"properties": {"c": NODE}}, {"properties": {"c": NODE}}], "type": "object"},
        {"type": "object", "properties": {"c": {"anyOf": [NODE, {"allOf": [NODE, NODE]}]}}},
        {"not": {"not": {"anyOf": TWO_FORMS}}},
        {
            "type": "object",
            "if": {"properties": {"c": NODE}},
            "then": {"properties": {"c": NODE}},
            "else": False,
        },
        {"type": "object", "properties": {"c": NODE}, "patternProperties": {"^c": NODE, "c$": NODE}},
        {"type": "object", "additionalProperties": {"anyOf": [NODE, {"type": "boolean"}, {"allOf": [NODE]}]}},
        {"not": {"type": "string"}, "anyOf": TWO_FORMS},
    ],
)
def test_wrong_arguments_of_a_recursive_schema_are_explained_with_little_work(
    node: dict[str, Any], levels: int
) -> None:
    schema = {"type": "object", "properties": {"n": NODE}, "$defs": {"node": node}}

    error = complaint(nested(levels), schema)

    assert '"n' in error.message


def test_of_very_many_wrong_values_the_first_is_named() -> None:
    schema = {"properties": {"rows": {"type": "array", "items": {"type": "string"}}}}

    error = complaint({"rows": ["x"] * 50_000 + [1] * 1_000_000}, schema)

    assert error.message.endswith('"rows[50000]" must be a string, not a number.')


def test_many_values_that_fit_none_of_many_forms_are_explained_by_the_first() -> None:
    forms = [{"const": f"form {n}"} for n in range(2_000)]
    schema = {"properties": {"rows": {"type": "array", "items": {"anyOf": forms}}}}

    error = complaint({"rows": [1] * 100_000}, schema)

    assert '"rows[0]" matches none of the allowed forms' in error.message


def test_an_enum_of_very_many_values_is_listed_in_part() -> None:
    error = complaint({"x": 1}, {"properties": {"x": {"enum": [f"v{n}" for n in range(9_000)]}}})

    assert "9000 in all" in error.message
    assert len(error.message) < 500


def test_of_many_wrong_choices_among_very_many_the_first_is_named() -> None:
    choices = {"enum": [f"v{n}" for n in range(18_000)]}
    schema = {"properties": {"rows": {"type": "array", "items": choices}}}

    error = complaint({"rows": [f"w{n}" for n in range(400)]}, schema)

    assert error.message.count("18000 in all") == 1
    assert '"rows[0]" must be one of' in error.message


def test_arguments_with_very_many_unknown_names_are_refused_in_few_words() -> None:
    schema = {
        "properties": {f"known_{n}": {} for n in range(5_000)},
        "additionalProperties": False,
    }

    error = complaint({f"unknown_{n}": 1 for n in range(100_000)}, schema)

    assert "unknown_0" in error.message
    assert len(error.message) < 1_000


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"properties": {"n": NODE}, "$defs": {"node": {"anyOf": TWO_FORMS}}},
        {"properties": {"n": {"type": "array"}}},
    ],
)
def test_arguments_nested_ten_thousand_levels_deep_never_break_the_checker(schema: dict[str, Any]) -> None:
    with contextlib.suppress(InvalidArguments):
        ArgumentChecker().check(tool_with(schema), nested(10_000))


def test_exactly_one_form_is_asked_for_where_several_fit() -> None:
    schema = {"properties": {"x": {"oneOf": [{"type": "integer"}, {"type": "number"}]}}}

    assert "exactly one of the allowed forms" in complaint({"x": 1}, schema).message


def test_a_reference_into_an_alternative_still_names_the_argument() -> None:
    schema = {
        "properties": {
            "x": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "y": {"$ref": "#/properties/x/anyOf/0"},
        }
    }

    assert '"y"' in complaint({"y": 1}, schema).message


@pytest.mark.parametrize("pattern", [r"(?=(a+))\1b", r"^(a+)+(?!c)$", r"(a*)\1*b", r"(?<=a)a*a*a*b"])
def test_patterns_that_backtrack_are_left_to_the_server_for_long_texts(pattern: str) -> None:
    schema = {"properties": {"words": {"items": {"type": "string", "pattern": pattern}}}}
    began = time.thread_time()
    ArgumentChecker().check(tool_with(schema), {"words": ["a" * 2000] * 200})
    assert time.thread_time() - began < 0.05
    complaint({"words": ["!"]}, {"properties": {"words": {"items": {"pattern": r"(?=(a+))\1b"}}}})
