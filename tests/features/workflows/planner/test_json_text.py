"""JSON in the answers of models is found, and what cannot be read is explained."""

from __future__ import annotations

import pytest

from toolcrib.features.workflows.planner.planner import NoJson, read_object


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1, "}"]}',
        'Here it is:\n```json\n{"a": [1, "}"]}\n```\nDone.',
        '<think>{"a": 0}</think>{"a": [1, "}",],}',
        '// plan\n{"a": [1, /* two */ "}",] // end\n}',
        'Use {{input.x}} here. {"a": [1, "}"]} And {that}.',
        '{"small": 1} {"a": [1, "}"]}',
    ],
)
def test_an_object_is_found_with_text_around_it_and_small_mistakes(text: str) -> None:
    assert read_object(text) == {"a": [1, "}"]}


def test_constants_of_python_are_read_but_not_inside_of_texts() -> None:
    found = read_object('{"a": True, "b": None, "c": "True, // None", "d": False}')

    assert found == {"a": True, "b": None, "c": "True, // None", "d": False}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("I cannot do that.", "no JSON object"),
        ('{"a": [1', "no end"),
        ('{"a": "text without end}', "no end"),
        ("{'a': 1}", "not valid"),
        ("[1, 2]", "no JSON object"),
        ("{" * 100_000, "no end"),
    ],
)
def test_what_cannot_be_read_is_explained(text: str, reason: str) -> None:
    with pytest.raises(NoJson, match=reason):
        read_object(text)


def test_half_an_answer_is_not_completed() -> None:
    with pytest.raises(NoJson, match="cut off"):
        read_object('{"a": 1}', cut=True)


def test_an_object_inside_of_one_without_an_end_is_found() -> None:
    assert read_object('{ I think: {"a": {"b": 1}} "and so on') == {"a": {"b": 1}}
