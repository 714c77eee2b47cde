"""References are parsed once and lead to values with their types."""

from __future__ import annotations

from typing import Any

import pytest

from toolcrib.graph.references import (
    BadReference,
    Reference,
    has_reference,
    parse,
    references_in,
    resolve,
)

VALUES = {
    "find": {"count": 2, "matches": [{"text": "Save", "x": 10.5}, {"text": "Open"}], "ok": True},
    "call": {"data": {"odd key": "odd", "a-b": 1}},
    "input": {"name": "Ada", "none": None},
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{find.count}}", 2),
        ("{{ find.count }}", 2),
        ("{{find.ok}}", True),
        ("{{find.matches[0].text}}", "Save"),
        ("{{find.matches[-1].text}}", "Open"),
        ("{{find.matches}}", VALUES["find"]["matches"]),
        ('{{call.data["odd key"]}}', "odd"),
        ("{{call.data['odd key']}}", "odd"),
        ("{{call.data.a-b}}", 1),
        ("{{find}}", VALUES["find"]),
    ],
)
def test_a_string_that_is_one_reference_has_the_value_with_its_type(text: str, value: Any) -> None:
    assert resolve(text, VALUES) == value
    assert type(resolve(text, VALUES)) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "{{find.missing}}",
        "{{nothing.at.all}}",
        "{{find.matches[7].text}}",
        "{{find.count.x}}",
        "{{input.none}}",
    ],
)
def test_what_is_missing_is_null(text: str) -> None:
    assert resolve(text, VALUES) is None
    assert resolve(f"<{text}>", VALUES) == "<>"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Hello {{input.name}}!", "Hello Ada!"),
        ("{{find.count}} of {{find.count}}", "2 of 2"),
        ("{{find.ok}}, {{find.matches[1]}}", 'true, {"text": "Open"}'),
        (r"\{{find.count}} is a reference", "{{find.count}} is a reference"),
        (r"\{{{{find.count}}", "{{2"),
        ("no reference", "no reference"),
        ("a } and a {", "a } and a {"),
    ],
)
def test_a_reference_inside_text_is_written_as_text(text: str, written: str) -> None:
    assert resolve(text, VALUES) == written


def test_references_are_replaced_everywhere_in_a_value() -> None:
    value = {"list": ["{{find.count}}", {"deep": "{{input.name}}"}], "number": 1}

    assert resolve(value, VALUES) == {"list": [2, {"deep": "Ada"}], "number": 1}
    assert list(references_in(value)) == [
        (("list", 0), "{{find.count}}"),
        (("list", 1, "deep"), "{{input.name}}"),
    ]


def test_a_value_that_looks_like_a_reference_is_not_resolved_again() -> None:
    values = {"page": {"text": "{{input.secret}}"}, "input": {"secret": "hidden"}}

    assert resolve("{{page.text}} and {{page.text}}", values) == "{{input.secret}} and {{input.secret}}"


@pytest.mark.parametrize(
    "text",
    [
        "{{",
        "{{}}",
        "{{ }}",
        "{{find.}}",
        "{{find..x}}",
        "{{find[x]}}",
        "{{1+1}}",
        "{{Find.x}}",
        "{{find.x",
        "{{a.b}} {{",
    ],
)
def test_anything_else_between_braces_is_an_error_with_a_hint(text: str) -> None:
    assert has_reference(text)

    with pytest.raises(BadReference) as caught:
        parse(text)

    assert "{{step.field}}" in caught.value.hint


def test_a_path_has_a_limit() -> None:
    with pytest.raises(BadReference):
        parse("{{a" + ".b" * 33 + "}}")


def test_a_reference_is_written_as_it_was_read() -> None:
    for text in ("{{find.matches[0].text}}", '{{call.data["odd key"]}}', "{{input}}"):
        assert str(parse(text).whole) == text
    assert parse("{{a.b}}").whole == Reference("a", ("b",))
