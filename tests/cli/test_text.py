"""Text that is safe to show, tables, times and typed words: the small things every command uses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.cli.call_arguments import read_words
from toolcrib.cli.commands.approvals import call_lines
from toolcrib.cli.output import as_json
from toolcrib.cli.safe_text import cut, one_line, revealed, stripped, width
from toolcrib.cli.times import duration, parse_since, size, until
from toolcrib.errors import UsageError


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPdevice\x1b\\after", "after"),
        ("\x9b31mred", "red"),
        ("a\rb\x08c\x07", "abc"),
        ("windows\r\nlines", "windows\nlines"),
        ("right\u202eleft\u2066", "rightleft"),
        ("unfinished\x1b[", "unfinished"),
        ("half \ud800", "half "),
        ("ü 漢 😀", "ü 漢 😀"),
    ],
)
def test_text_of_others_cannot_move_the_cursor(text: str, shown: str) -> None:
    assert stripped(text) == shown


@given(st.text())
def test_no_text_keeps_an_escape(text: str) -> None:
    assert not set(stripped(text)) & {chr(number) for number in (*range(9), 11, 12, 13, 27, 127, 155)}
    assert "\n" not in one_line(text)


def test_what_hides_is_revealed_and_nothing_is_left_out() -> None:
    assert revealed("a\x1b\u200b\u202eb\U000e0041 ü") == "a\\x1b\\u200b\\u202eb\\U000e0041 ü"


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("漢字漢", 4, "漢…"), ("ab cd", 4, "ab…"), ("abc", 0, "")],
)
def test_text_is_cut_to_columns(text: str, columns: int, shown: str) -> None:
    assert cut(text, columns) == shown
    assert width(shown) <= columns


def test_json_is_safe_on_every_terminal() -> None:
    assert as_json({"a": "\x9b\u202e\ud800ü"}) == '{"a":"\\u009b\\u202e\\ud800ü"}'


@pytest.mark.parametrize(
    ("word", "read"),
    [
        ("a=1", {"key": "a", "text": "1"}),
        ("a=", {"key": "a", "text": ""}),
        ("a=b=c", {"key": "a", "text": "b=c"}),
        ("a=b:=c", {"key": "a", "text": "b:=c"}),
        ("a:=[1]", {"key": "a", "value": [1]}),
        ("a:b=c", {"key": "a:b", "text": "c"}),
        ("a=line\nline", {"key": "a", "text": "line\nline"}),
    ],
)
def test_a_word_is_a_key_and_a_value(word: str, read: dict[str, Any]) -> None:
    assert read_words([word]) == [read]


@pytest.mark.parametrize("word", ["", "a", "=b", ":=b", "a:=b"])
def test_another_word_is_refused(word: str) -> None:
    with pytest.raises(UsageError):
        read_words([word])


def test_times_are_read_as_people_write_them() -> None:
    now = datetime(2026, 1, 31, 12, tzinfo=UTC)

    assert parse_since("30m", now) == now - timedelta(minutes=30)
    assert parse_since("7d", now) == now - timedelta(days=7)
    assert parse_since("2026-01-31T12:00:00+00:00") == now
    assert parse_since("2026-01-31").tzinfo is not None
    with pytest.raises(click.BadParameter):
        parse_since("soon")


def test_times_and_sizes_are_shown_short() -> None:
    assert [duration(ms) for ms in (0.04, 3.14159, 42, 61_000)] == ["0.04 ms", "3.1 ms", "42 ms", "61.0 s"]
    assert [size(count) for count in (12, 1500, 24_000, 5_000_000)] == ["12 B", "1.5 KB", "23 KB", "4.8 MB"]
    assert until((datetime.now(UTC) + timedelta(seconds=8.2)).isoformat()) == "in 8 s"
    assert until(datetime.now(UTC).isoformat()) == "now"


def test_a_waiting_call_cannot_begin_lines_of_its_own() -> None:
    assert call_lines('send {"text": "a\\\\x0b# b"}\nTo: x\x0by') == (
        '  send {"text": "a\\\\x0b# b"}\n  To: x\\x0by'
    )
