"""Lines out of chunks: whatever the cuts, whole lines come out, in linear time and within the bound."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.servers.processes.child import LineCutter, LineTooLong


def cut(*chunks: bytes, limit: int = 1 << 30) -> list[bytes]:
    lines: list[bytes] = []
    cutter = LineCutter(lambda line: lines.append(bytes(line)), limit)
    for chunk in chunks:
        cutter.feed(chunk)
    return lines


def test_lines_come_out_whole_and_empty_ones_not_at_all():
    assert cut(b"a\nbc\n\n", b"\nd", b"e", b"f\ng") == [b"a", b"bc", b"def"]


def test_an_unfinished_line_is_not_a_line():
    assert cut(b"abc") == []


@given(
    text=st.lists(st.sampled_from([b"", b"a", b"bc", b"\r", b"x" * 40])), cuts=st.lists(st.integers(0, 400))
)
def test_where_the_stream_is_cut_makes_no_difference(text: list[bytes], cuts: list[int]):
    whole = b"\n".join([*text, b""])
    places = [0, *sorted(min(place, len(whole)) for place in cuts), len(whole)]
    pieces = [whole[a:b] for a, b in pairwise(places)]
    assert cut(*pieces) == [line for line in text if line]


@given(size=st.integers(1, 60), cuts=st.lists(st.integers(0, 60)))
def test_the_bound_holds_however_the_line_arrives(size: int, cuts: list[int]):
    whole = b"x" * size + b"\n"
    places = [0, *sorted(min(place, len(whole)) for place in cuts), len(whole)]
    pieces = [whole[a:b] for a, b in pairwise(places)]
    if size <= 30:
        assert cut(*pieces, limit=30) == [b"x" * size]
    else:
        with pytest.raises(LineTooLong):
            cut(*pieces, limit=30)


def test_an_endless_line_is_refused_before_it_ends():
    with pytest.raises(LineTooLong):
        cut(*[b"x" * 1000] * 11, limit=10_000)


def test_a_long_line_in_small_pieces_is_not_copied_anew_for_each_of_them():
    piece, pieces = b"x" * 4096, 12_800
    began = time.process_time()
    assert len(cut(*[piece] * pieces, b"\n")[0]) == len(piece) * pieces
    assert time.process_time() - began < 5  # copied at each piece it would move 300 GB
