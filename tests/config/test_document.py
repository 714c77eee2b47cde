from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.config.document import parse_document, render_document
from toolcrib.config.json_parser import Parser, parse_plainly
from toolcrib.errors import ConfigError


def failure(text: str | bytes) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        parse_document(text)
    return caught.value


def test_comments_trailing_commas_and_a_bom_are_read_over() -> None:
    text = b"""\xef\xbb\xbf// mine
    {
      /* two
         lines */
      "a": [1, 2.5, -3e2, true, false, null,], // "not": "data"
      "b": {"c": "// not a comment /* nor this */",},
    }
    """

    document = parse_document(text)

    assert document.data == {
        "a": [1, 2.5, -300.0, True, False, None],
        "b": {"c": "// not a comment /* nor this */"},
    }
    assert document.commented
    assert not parse_document('{"a": "//"}').commented


def test_utf_16_of_a_windows_editor_is_read() -> None:
    assert parse_document('{"a": "ü"}'.encode("utf-16")).data == {"a": "ü"}


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3, 3, "expected ',' or '}'"),
        ('{"a" 1}', 1, 6, "expected ':' after 'a'"),
        ("{a: 1}", 1, 2, "key in double quotes"),
        ('{"a": True}', 1, 7, "expected a value"),
        ('{"a": NaN}', 1, 7, "expected a value"),
        ('{"a": 01}', 1, 7, "not a JSON number"),
        ('{"a": 1e999}', 1, 7, "too large"),
        ('{"a": "x\n"}', 1, 7, "no closing quote"),
        ('{"a": "\\q"}', 1, 8, "escape"),
        ('{"a": "\\ud800"}', 1, 7, "surrogate"),
        ('{"a": [1, 2}', 1, 12, "expected ',' or ']'"),
        ('{"a": 1', 1, 8, "expected ',' or '}'"),
        ('{"a": 1}}', 1, 9, "after the end"),
        ("{\n /* open", 2, 2, "comment"),
        ("[,]", 1, 2, "expected a value"),
        ("", 1, 1, "empty"),
        ("\n\n// nothing", 3, 11, "empty"),
        ("[]", 1, 1, "an object"),
        ('{"mcpServers": {\n  "a": {},\n  "a": {}\n}}', 3, 3, "'a' is a duplicate key"),
        (b'{"a":\n "\xff"}', 2, 3, "UTF-8"),
        ("[" * 5000, 1, 102, "nested"),
    ],
)
def test_an_error_says_line_and_column(text: str | bytes, line: int, column: int, says: str) -> None:
    error = failure(text)

    assert (error.line, error.column) == (line, column)
    assert says in error.message
    assert f"line {line}, column {column}" in error.message
    assert "\n" not in error.message
    assert error.hint


def test_an_error_shows_the_line_but_no_value() -> None:
    error = failure('{"env": {"API_KEY": "sk-abc", "OTHER": "hunter2" "X": hunter3isquitelong}}')

    assert '"API_KEY": "…"' in error.message
    assert "sk-abc" not in error.message
    assert "hunter" not in error.message


def test_an_unclosed_value_is_not_shown_either() -> None:
    assert "hunter2" not in failure('{"API_KEY": "hunter2\n}').message


@pytest.mark.parametrize("reach", range(0, 120, 7))
def test_a_long_line_is_cut_without_showing_a_value(reach: int) -> None:
    error = failure('{"k": ["' + "s3cr3t" * 10 + '", "' + "x" * reach + '", "hunter2" 1]}')

    assert len(error.message) < 200
    assert "s3cr3t" not in error.message
    assert "hunter" not in error.message


def test_positions_of_keys_and_items_are_known() -> None:
    document = parse_document('{\n  "a": {\n    "b": [1,\n 2]\n  }\n}')

    assert document.locate(("a", "b")) == (3, 5)
    assert document.locate(("a", "b", 1)) == (4, 2)
    assert document.locate(("a", "b", "unknown")) == (3, 5)
    assert document.locate(("unknown",)) == (1, 1)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.dictionaries(st.text(), json_values, max_size=4), st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_whatever_json_can_say_is_understood(data: dict[str, Any], ascii_only: bool, indent: Any) -> None:
    text = json.dumps(data, ensure_ascii=ascii_only, indent=indent)

    assert parse_document(text).data == json.loads(text)


@settings(deadline=None)
@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_what_is_written_reads_the_same(data: dict[str, Any]) -> None:
    again = parse_document(render_document(data)).data

    assert again == data
    assert list(again) == list(data)


@settings(deadline=None)
@given(st.text(alphabet='{}[]",:/*\\\n 1ae.-'))
def test_no_text_makes_the_parser_stumble(text: str) -> None:
    try:
        parse_document(text)
    except ConfigError as caught:
        error = caught
    else:
        return
    assert error.line is not None


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), "\udc80", {1: {2}}])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(ConfigError):
        render_document({"a": value})


DOUBTFUL = (
    '{"a": 1, "a": 2}',
    '{"a": NaN}',
    '{"a": -Infinity}',
    '{"a": 1e999}',
    f'{{"a": {"9" * 301}}}',
    '{"a": "\\ud800"}',
    '{"a": 1,}',
    '{"a": 1} // why',
    "[" * 102 + "]" * 102,
    "[" * 101 + "1" + "]" * 101,
    "[" * 5000 + "]" * 5000,
    '{"a": "\t"}',
    "null",
    "",
)
PLAIN = ('{"a": [1, 2.5, -3, true, false, null, "ü"]}', "[]", "[" * 101 + "]" * 101, '{"a": {"a": {}}}')


@pytest.mark.parametrize("text", DOUBTFUL)
def test_what_is_not_plain_json_beyond_doubt_is_left_to_the_careful_parser(text):
    assert parse_plainly(text) is None


@pytest.mark.parametrize("text", PLAIN)
def test_plain_json_reads_the_same_either_way(text):
    value = parse_plainly(text)
    assert value is not None
    assert value == Parser(text, "mcp.json").parse()
