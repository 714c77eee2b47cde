from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolcrib.schema.tools import Tool
from toolcrib.tools.formats import FORMATS, as_anthropic, as_gemini, as_openai, as_openai_responses
from toolcrib.tools.registry import Registry

GEMINI_WORDS = {
    "type",
    "format",
    "description",
    "nullable",
    "enum",
    "items",
    "properties",
    "required",
    "anyOf",
    "pattern",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
}


def offered(schema: Mapping[str, Any] | None) -> Tool:
    registry = Registry()
    definition = {"name": "work", "description": "Works.", "inputSchema": schema}
    assert registry.put("demo", "mcp", [definition]) == []
    return registry.resolve("demo__work")


def gemini(schema: Mapping[str, Any]) -> dict[str, Any]:
    declaration = as_gemini(offered(schema))
    parameters: dict[str, Any] = declaration["parameters"]
    assert_gemini_accepts(parameters)
    return parameters


def assert_gemini_accepts(node: Mapping[str, Any]) -> None:
    """What the API checks of every node, gathered from its rejections."""
    assert set(node) <= GEMINI_WORDS
    assert ("type" in node) != ("anyOf" in node)
    if "enum" in node:
        assert node["type"] == "STRING"
        assert all(isinstance(value, str) and value for value in node["enum"])
    assert ("items" in node) == (node.get("type") == "ARRAY")
    if "properties" in node or "required" in node:
        assert node["type"] == "OBJECT"
        assert node["properties"]
        assert set(node.get("required", ())) <= set(node["properties"])
    for below in (*node.get("anyOf", ()), *node.get("properties", {}).values()):
        assert_gemini_accepts(below)
    if "items" in node:
        assert_gemini_accepts(node["items"])


def assert_others_accept(schema: Mapping[str, Any]) -> None:
    assert schema["type"] == "object"
    assert isinstance(schema["properties"], dict)
    assert not {"anyOf", "oneOf", "allOf", "not", "enum", "$ref"} & set(schema)


def test_each_vendor_gets_its_own_form() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}
    tool = offered(schema)

    assert as_openai(tool) == {
        "type": "function",
        "function": {"name": "demo__work", "description": "Works.", "parameters": schema},
    }
    assert as_openai_responses(tool) == {
        "type": "function",
        "name": "demo__work",
        "description": "Works.",
        "parameters": schema,
        "strict": False,
    }
    assert as_anthropic(tool) == {"name": "demo__work", "description": "Works.", "input_schema": schema}
    assert as_gemini(tool) == {
        "name": "demo__work",
        "description": "Works.",
        "parameters": {"type": "OBJECT", "properties": {"a": {"type": "NUMBER"}}, "required": ["a"]},
    }


@pytest.mark.parametrize("schema", [None, {}, {"type": "object"}, {"type": "object", "properties": {}}])
def test_a_tool_without_parameters_is_accepted_everywhere(schema: Mapping[str, Any] | None) -> None:
    tool = offered(schema)

    assert as_anthropic(tool)["input_schema"] == {"type": "object", "properties": {}}
    assert "parameters" not in as_gemini(tool)


def test_the_source_definition_is_never_changed() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "anyOf": [{"properties": {"a": {"type": "array"}}}, {"$ref": "#/definitions/b"}],
        "definitions": {"b": {"properties": {"b": {"exclusiveMinimum": True, "minimum": 1}}}},
    }
    before = repr(schema)
    tool = offered(schema)

    for form in FORMATS.values():
        form(tool)

    assert repr(schema) == before


def test_alternatives_on_top_become_optional_properties() -> None:
    schema = {
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "required": ["id"],
        "anyOf": [
            {"properties": {"route": {"type": "string"}}, "required": ["route"]},
            {"properties": {"file": {"type": "string"}}, "required": ["file"]},
        ],
    }

    plain = as_anthropic(offered(schema))["input_schema"]

    assert_others_accept(plain)
    assert set(plain["properties"]) == {"id", "route", "file"}
    assert plain["required"] == ["id"]


def test_parts_and_references_on_top_are_joined() -> None:
    schema = {
        "allOf": [{"$ref": "#/$defs/named"}, {"properties": {"b": {"type": "number"}}, "required": ["b"]}],
        "$defs": {"named": {"properties": {"a": {"type": "string"}}, "required": ["a"]}},
    }

    plain = as_openai(offered(schema))["function"]["parameters"]

    assert_others_accept(plain)
    assert set(plain["properties"]) == {"a", "b"}
    assert set(plain["required"]) == {"a", "b"}


def test_words_of_older_drafts_and_other_languages_are_put_right() -> None:
    schema = {
        "type": "object",
        "properties": {
            "count": {"type": "int", "minimum": 0, "exclusiveMinimum": True, "required": True},
            "pair": {"type": "array", "items": [{"type": "str"}, {"type": "float"}]},
            "list": {"type": "array"},
            "what": {"type": "any", "examples": "x", "minLength": "3"},
        },
    }

    properties = as_anthropic(offered(schema))["input_schema"]["properties"]

    assert properties == {
        "count": {"type": "integer", "exclusiveMinimum": 0},
        "pair": {
            "type": "array",
            "prefixItems": [{"type": "string"}, {"type": "number"}],
            "items": {},
        },
        "list": {"type": "array", "items": {}},
        "what": {},
    }


def test_gemini_gets_references_written_out() -> None:
    schema = {
        "properties": {"from": {"$ref": "#/$defs/Point", "description": "Where."}},
        "$defs": {
            "Point": {"type": "object", "properties": {"x": {"$ref": "#/$defs/X"}}},
            "X": {"type": "integer"},
        },
    }

    assert gemini(schema)["properties"]["from"] == {
        "type": "OBJECT",
        "description": "Where.",
        "properties": {"x": {"type": "INTEGER"}},
    }


def test_a_schema_that_contains_itself_ends_somewhere() -> None:
    schema = {
        "properties": {"tree": {"$ref": "#/$defs/Node"}},
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
            }
        },
    }

    tree = gemini(schema)["properties"]["tree"]

    assert tree["properties"]["children"]["items"] == {"type": "OBJECT"}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"const": "a"}, {"type": "STRING", "format": "enum", "enum": ["a"]}),
        ({"enum": ["a", "b", ""]}, {"type": "STRING", "format": "enum", "enum": ["a", "b"]}),
        ({"enum": [1, 2]}, {"type": "INTEGER", "description": "One of: 1, 2."}),
        ({"type": "boolean", "enum": [True]}, {"type": "BOOLEAN"}),
        ({"type": ["string", "null"]}, {"type": "STRING", "nullable": True}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}),
        (
            {"type": ["object", "null"], "properties": {"a": {"type": "string"}}},
            {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}, "nullable": True},
        ),
        (
            {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}], "default": None},
            {"type": "ARRAY", "items": {"type": "STRING"}, "nullable": True},
        ),
        (
            {"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}], "description": "Pick."},
            {"type": "STRING", "format": "enum", "enum": ["a", "b"], "description": "Pick."},
        ),
        ({"type": "string", "format": "uri", "minLength": 1}, {"type": "STRING", "minLength": 1}),
        ({"type": "string", "format": "date-time"}, {"type": "STRING", "format": "date-time"}),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"type": "OBJECT"}),
        ({"type": "array"}, {"type": "ARRAY", "items": {"type": "STRING"}}),
        ({"properties": {"a": {}}, "required": ["a", "b"]}, None),
        ({"type": "null"}, {"type": "STRING"}),
        ({}, {"type": "STRING"}),
        (True, {"type": "STRING"}),
        (
            {"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"required": ["a"]}]},
            {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}, "required": ["a"]},
        ),
    ],
)
def test_gemini_gets_what_it_understands(schema: Any, expected: dict[str, Any] | None) -> None:
    node = gemini({"type": "object", "properties": {"field": schema}})["properties"]["field"]

    if expected is not None:
        assert node == expected


def bomb(levels: int) -> dict[str, Any]:
    """Definitions that each name the next one twice: small to write down, endless to write out."""
    definitions: dict[str, Any] = {
        f"a{level}": {"anyOf": [{"$ref": f"#/$defs/a{level + 1}"}, {"$ref": f"#/$defs/a{level + 1}"}]}
        for level in range(levels)
    }
    definitions[f"a{levels}"] = {"type": "string"}
    start = {"$ref": "#/$defs/a0"}
    return {"properties": {"x": start}, "anyOf": [start], "$defs": definitions}


@pytest.mark.parametrize(
    "schema",
    [
        bomb(40),
        {"anyOf": [{"$ref": "#"}] * 10},
        {"allOf": [{"$ref": "#"}, {"$ref": "#/allOf/0"}]},
        {"properties": {"a": {"allOf": [{"$ref": "#/properties/a"}, {"$ref": "#/properties/a"}]}}},
        {"properties": {"a": {"$ref": "http://127.0.0.1:1/schema.json"}}},
        {"properties": {"a": {"$ref": "#/nowhere/to/be/found"}}},
    ],
)
def test_a_schema_bomb_is_converted_in_bounded_work(schema: dict[str, Any]) -> None:
    tool = offered(schema)

    assert_others_accept(as_anthropic(tool)["input_schema"])
    assert_gemini_accepts(as_gemini(tool).get("parameters", {"type": "OBJECT"}))


words = st.sampled_from(
    [
        "type",
        "properties",
        "required",
        "items",
        "anyOf",
        "oneOf",
        "allOf",
        "enum",
        "const",
        "$ref",
        "$defs",
        "format",
        "minimum",
        "exclusiveMinimum",
        "description",
        "additionalProperties",
        "prefixItems",
        "a",
        "b",
    ]
)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.text(max_size=3),
    st.sampled_from(["string", "object", "array", "null", "integer", "#", "#/$defs/a", "#/properties/a"]),
)
nodes = st.recursive(
    leaves,
    lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(words, below, max_size=5)),
    max_leaves=25,
)
schemas = st.dictionaries(words, nodes, max_size=6)


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=300)
@given(schema=schemas)
def test_whatever_a_server_lists_every_vendor_can_read_it(schema: dict[str, Any]) -> None:
    tool = offered(schema)

    plain = as_anthropic(tool)["input_schema"]
    assert_others_accept(plain)
    jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **plain})
    assert_gemini_accepts(as_gemini(tool).get("parameters", {"type": "OBJECT"}))
