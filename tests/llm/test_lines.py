"""Lines end at line feeds and carriage returns alone, however the bytes are cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.llm.http import LineReader, ResponseLineTooLong

PIECES = st.sampled_from(["a", "\n", "\r", "\r\n", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "é"])


@given(st.lists(PIECES, max_size=40), st.lists(st.integers(0, 60), max_size=8))
def test_cuts_change_nothing_and_only_line_ends_end_lines(pieces: list[str], cuts: list[int]) -> None:
    text = "".join(pieces)
    data = text.encode()
    marks = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    reader = LineReader()

    lines = [line for start, end in itertools.pairwise(marks) for line in reader.feed(data[start:end])]

    expected = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert [*lines, reader.rest()] == expected


def test_a_mark_of_byte_order_is_no_part_of_the_first_line() -> None:
    assert LineReader().feed(b"\xef\xbb\xbfdata: x\n") == ["data: x"]


def test_a_line_without_an_end_is_not_held_for_ever() -> None:
    reader = LineReader(longest=100)
    reader.feed(b"x" * 90)

    with pytest.raises(ResponseLineTooLong):
        reader.feed(b"x" * 90)
