"""The reader of server-sent events: the format's rules, however the bytes are cut, within its bound."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.servers.remote.event_stream import EventStreamReader, EventTooLarge, ServerSentEvent


def read(*chunks: bytes, **options: int) -> list[ServerSentEvent]:
    reader = EventStreamReader(**options)
    return [event for chunk in chunks for event in reader.feed(chunk)]


def test_an_event_is_its_type_and_its_lines_of_data():
    assert read(b"event: endpoint\ndata: one\ndata:two\n\n") == [ServerSentEvent("endpoint", b"one\ntwo")]


def test_without_a_type_it_is_a_message():
    assert read(b"data: {}\n\n") == [ServerSentEvent("message", b"{}")]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_line_end_of_the_format_is_understood(end: bytes):
    assert read(end.join([b"data: a", b"", b"data: b", b"", b""])) == [
        ServerSentEvent("message", b"a"),
        ServerSentEvent("message", b"b"),
    ]


def test_comments_unknown_fields_and_a_byte_order_mark_are_passed_over():
    assert read(b"\xef\xbb\xbf: hello\ncolour: red\ndata\ndata: x\n:\n\n") == [
        ServerSentEvent("message", b"\nx")
    ]


def test_an_unfinished_event_is_no_event_and_its_id_does_not_count():
    reader = EventStreamReader()
    assert reader.feed(b"id: 1\ndata: a\n\nid: 2\ndata: b\n") == [ServerSentEvent("message", b"a")]
    assert reader.last_event_id == "1"


def test_an_event_without_data_only_moves_the_id_and_the_pause():
    reader = EventStreamReader()
    assert reader.feed(b"id: 7\nretry: 250\ndata:\n\n") == []
    assert (reader.last_event_id, reader.retry) == ("7", 0.25)


def test_an_id_stays_until_another_comes_and_an_empty_one_takes_it_back():
    reader = EventStreamReader()
    reader.feed(b"id: 7\ndata: a\n\ndata: b\n\n")
    assert reader.last_event_id == "7"
    reader.feed(b"id:\ndata: c\n\n")
    assert reader.last_event_id is None


def test_senseless_ids_and_pauses_are_ignored():
    reader = EventStreamReader()
    reader.feed(b"id: a\0b\nretry: soon\ndata: x\n\n")
    assert (reader.last_event_id, reader.retry) == (None, None)


def test_a_large_event_in_many_pieces_arrives_whole():
    piece = b"x" * 65536
    events = read(b"data: ", *[piece] * 160, b"\n\n")
    assert [len(event.data) for event in events] == [160 * 65536]


def test_an_event_above_the_bound_is_refused_before_it_ends():
    reader = EventStreamReader(max_event_bytes=1000)
    assert reader.feed(b"data: " + b"x" * 900 + b"\n\n")
    for _ in range(4):
        reader.feed(b"data: " + b"x" * 200 + b"\n")
    with pytest.raises(EventTooLarge):
        reader.feed(b"data: " + b"x" * 200)


def test_an_endless_line_is_refused():
    with pytest.raises(EventTooLarge):
        read(*[b"x" * 100] * 11, max_event_bytes=1000)


@given(
    lines=st.lists(st.sampled_from([b"data: a", b"data: bc", b"id: 1", b"", b"", b": c", b"event: e"])),
    end=st.sampled_from([b"\n", b"\r\n", b"\r"]),
    cuts=st.lists(st.integers(0, 200)),
)
def test_where_the_bytes_are_cut_makes_no_difference(lines: list[bytes], end: bytes, cuts: list[int]):
    whole = end.join([*lines, b"", b""])
    places = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    pieces = [whole[a:b] for a, b in itertools.pairwise(places)]
    assert read(*pieces) == read(whole)
