from __future__ import annotations

import pytest

from toolcrib.tools.definitions import MAX_DEFINITION_BYTES, MAX_VALUES, canonical_json, read_definitions


def test_a_malformed_definition_loses_only_itself() -> None:
    nested: dict[str, object] = {}
    for _ in range(5000):
        nested = {"x": nested}
    read, problems = read_definitions(
        [
            {"name": "good", "inputSchema": {"type": "object"}},
            "not an object",
            {"description": "no name"},
            {"name": ""},
            {"name": "odd", "inputSchema": "string"},
            {"name": "deep", "inputSchema": nested},
            {"name": "huge", "description": "x" * (MAX_DEFINITION_BYTES + 1)},
            {"name": "python", "inputSchema": {"default": object()}},
            {"name": "also_good"},
        ]
    )

    assert [one.definition.name for one in read] == ["also_good", "good"]
    assert [(problem.tool, problem.reason.split(":")[0]) for problem in problems] == [
        ("#2", "the definition is not an object"),
        ("#3", "the definition has no name"),
        ("#4", "the definition has no name"),
        ("odd", "its inputSchema is not an object"),
        ("deep", "the definition is nested too deeply"),
        ("huge", "the definition is larger than 256 KiB"),
        ("python", "the definition is not JSON"),
    ]


def test_the_first_of_two_tools_with_one_name_wins() -> None:
    read, problems = read_definitions([{"name": "x", "title": "1"}, {"name": "x", "title": "2"}])

    assert [one.definition.raw["title"] for one in read] == ["1"]
    assert problems[0].tool == "x"
    assert "twice" in problems[0].reason


def test_a_schema_without_a_type_is_taken_and_left_as_it_is() -> None:
    raw = {"name": "x", "inputSchema": {"properties": {"a": {}}}, "unknown": {"kept": True}}

    [one], problems = read_definitions([raw])

    assert problems == []
    assert one.definition.raw is raw
    assert one.definition.input_schema == {"properties": {"a": {}}}


def test_the_hash_depends_on_the_content_and_not_on_the_order_of_keys() -> None:
    [first], _ = read_definitions([{"name": "x", "description": "d", "inputSchema": {"a": 1, "b": 2}}])
    [same], _ = read_definitions([{"inputSchema": {"b": 2, "a": 1}, "description": "d", "name": "x"}])
    [other], _ = read_definitions([{"name": "x", "description": "D", "inputSchema": {"a": 1, "b": 2}}])

    assert first.hash == same.hash
    assert first.hash != other.hash
    assert len(first.hash) == 64


@pytest.mark.parametrize("text", ["é", "\ud800", "数"])
def test_any_text_can_be_hashed(text: str) -> None:
    [one], problems = read_definitions([{"name": "x", "description": text}])

    assert problems == []
    assert one.hash
    assert text in canonical_json(one.definition.raw)


def test_a_definition_of_very_many_values_is_refused() -> None:
    schema = {"enum": [[] for _ in range(MAX_VALUES)]}

    read, problems = read_definitions([{"name": "good"}, {"name": "wide", "inputSchema": schema}])

    assert [one.definition.name for one in read] == ["good"]
    assert problems[0].reason == f"the definition has more than {MAX_VALUES:,} values"
