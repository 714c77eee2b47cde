"""What a line may hold and still be understood, and that what is written can be read by anyone."""

from __future__ import annotations

import contextlib
import gc
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.errors import UsageError
from toolcrib.serverkit import encoding as large
from toolcrib.serverkit.encoding import is_large
from toolcrib.servers.sessions.codec import NotAMessage, decode, decode_large, encode

REPLY = {"jsonrpc": "2.0", "id": 1, "result": {"text": "é ☃ 😀"}}
WIRE = json.dumps(REPLY, ensure_ascii=False).encode()
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON_VALUES)
def test_what_is_written_is_read_back_the_same_by_us_and_by_others(value: Any):
    message = {"jsonrpc": "2.0", "method": "x", "params": {"value": value}}
    written = encode(message)
    assert b"\n" not in written
    assert decode(written) == [message]
    assert json.loads(written) == message


@pytest.mark.parametrize(
    "message",
    [
        REPLY,
        {"jsonrpc": "2.0", "id": "1", "result": None},
        {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "m"}},
        {"jsonrpc": "2.0", "error": {"code": 1, "message": "without an id at all"}},
        {"jsonrpc": "2.0", "method": "notifications/x"},
        {"jsonrpc": "2.0", "id": 3, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "result": {}, "unknown": {"kept": [1, 2]}},
    ],
)
def test_messages_are_messages(message: dict[str, Any]):
    assert decode(json.dumps(message).encode()) == [message]


@pytest.mark.parametrize(
    "line",
    [
        b"Server listening on port 3000",
        b"{not json}",
        b"{}",
        b"[]",
        b"null",
        b"17",
        b'"jsonrpc"',
        b'{"level":"info","id":1,"method":"GET","path":"/"}',
        b'{"id":1,"result":"what a log says of a query"}',
        b'{"id":1,"error":"what a log says of a failure"}',
        b'{"jsonrpc":"2.0"}',
        b'{"jsonrpc":"2.0","id":1}',
        b'[1,{"jsonrpc":"2.0"},[{"jsonrpc":"2.0","method":"nested"}]]',
        b"\xff\xfe\x00\x01",
        b"\x00" * 100,
        b'{"jsonrpc":"2.0","id":1,"result":{"cut":',
    ],
)
def test_rubbish_is_no_message(line: bytes):
    with pytest.raises(NotAMessage):
        decode(line)


def test_a_batch_gives_its_messages_and_drops_the_rest():
    batch = [REPLY, {"a": 1}, 5, {"jsonrpc": "2.0", "method": "n"}]
    assert decode(json.dumps(batch).encode()) == [REPLY, {"jsonrpc": "2.0", "method": "n"}]


@pytest.mark.parametrize(
    "line",
    [
        b"\xef\xbb\xbf" + WIRE,
        WIRE + b"\r",
        b"  " + WIRE + b"  ",
        b"Loading model... " + WIRE,
        b"\x1b[32mready\x1b[0m" + WIRE,
        b"{oops " + WIRE,
        b"caf\xe9 " + WIRE,
        WIRE + b" # done",
    ],
)
def test_a_message_is_found_in_what_surrounds_it(line: bytes):
    assert decode(line) == [REPLY]


def test_the_order_of_the_keys_does_not_matter_when_text_is_glued_in_front():
    text = b'Thinking... {"result":{"content":[{"id":1}]},"jsonrpc":"2.0","id":7}'
    assert decode(text) == [{"jsonrpc": "2.0", "id": 7, "result": {"content": [{"id": 1}]}}]


def test_messages_written_without_a_newline_between_are_all_found():
    notice = {"jsonrpc": "2.0", "method": "notifications/x"}
    assert decode(WIRE + json.dumps(notice).encode() + WIRE) == [REPLY, notice, REPLY]


def test_a_request_in_the_middle_of_other_text_is_the_echo_of_ours_in_a_log():
    with pytest.raises(NotAMessage):
        decode(b'DEBUG received {"jsonrpc":"2.0","id":1,"method":"tools/call"}')


def test_a_message_inside_a_message_is_not_taken_for_one():
    inner = {"jsonrpc": "2.0", "id": 1, "result": {}}
    outer = {"result": {"structuredContent": inner, "bad": "\ud800"}, "jsonrpc": "2.0", "id": 5}
    assert decode(json.dumps(outer).encode()) == [outer]


def test_bytes_that_are_no_utf8_cost_only_themselves():
    line = WIRE.replace("é".encode(), b"\xe9")
    assert decode(line) == [{**REPLY, "result": {"text": "� ☃ 😀"}}]


def test_half_a_surrogate_pair_passes_both_ways():
    message = {"jsonrpc": "2.0", "id": 1, "result": {"text": "a\ud800b"}}
    assert decode(b'{"jsonrpc":"2.0","id":1,"result":{"text":"a\\ud800b"}}') == [message]
    assert json.loads(encode(message)) == message


def test_big_integers_stay_whole_both_ways():
    message = {"jsonrpc": "2.0", "id": 1, "result": {"n": 2**64 + 1, "m": -(10**300)}}
    assert decode(encode(message)) == [message]
    assert json.loads(encode(message)) == message


def test_numbers_that_are_none_are_read_and_never_written():
    (message,) = decode(b'{"jsonrpc":"2.0","id":1,"result":{"a":NaN,"b":Infinity,"c":-Infinity}}')
    assert math.isnan(message["result"]["a"])
    assert message["result"]["b"] == math.inf
    assert json.loads(encode(message))["result"] == {"a": None, "b": None, "c": None}
    assert json.loads(encode({"x": [math.nan, "\ud800"]})) == {"x": [None, "\ud800"]}


@pytest.mark.parametrize(
    "bomb",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"jsonrpc":"2.0","id":1,"result":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"jsonrpc":' * 100_000,
        b'x {"id":1,"result":"' * 5000,
    ],
)
def test_a_bomb_is_no_message_and_does_no_harm(bomb: bytes):
    with pytest.raises(NotAMessage):
        decode(bomb)
    assert decode(WIRE) == [REPLY]


def test_moderate_depth_is_no_bomb():
    nested: Any = "x"
    for _ in range(300):
        nested = [nested]
    message = {"jsonrpc": "2.0", "id": 1, "result": {"deep": nested}}
    assert decode(encode(message)) == [message]


def _endless() -> dict[str, Any]:
    loop: dict[str, Any] = {}
    loop["loop"] = loop
    return loop


def _deep() -> Any:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    return value


@pytest.mark.parametrize("value", [object(), _endless(), b"\xff", {("a", 1): 2, "x": object()}])
def test_what_json_cannot_hold_is_refused_with_a_hint(value: Any):
    with pytest.raises(UsageError, match="Not valid as JSON") as caught:
        encode({"jsonrpc": "2.0", "method": "x", "params": {"value": value}})
    assert caught.value.hint


def test_arguments_nested_beyond_all_reason_are_refused():
    with pytest.raises(UsageError):
        encode({"params": _deep()})


# Damaged lines


def _work_of(line: bytes) -> int:
    """How many characters the parser was given to look for a message in a damaged line."""
    from toolcrib.servers.sessions import codec

    read = 0
    decoder = codec._DECODER

    class Counting(json.JSONDecoder):
        def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
            nonlocal read
            try:
                value, end = decoder.raw_decode(s, idx)
            except json.JSONDecodeError as error:
                read += error.pos - idx
                raise
            read += end - idx
            return value, end

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codec, "_DECODER", Counting())
        with contextlib.suppress(NotAMessage):
            decode(line)
    return read


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":[' * 64 + b"1," * 50_000,
        b'{"id":' * 64 + b"[" * 100 + b'"x",' * 20_000,
        b'{"params":{"a":1},' * 64 + b"1" * 100_000,
        b'x{"result":{"y":' * 64 + b'{"a":' * 10_000,
        b'{"id":1,"method":"x"' * 5_000,
    ],
)
def test_a_damaged_line_is_searched_once_and_not_once_for_each_opening(line: bytes):
    assert _work_of(line) <= 2 * len(line)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            b'{"jsonrpc":"2.0","id":7,"result":{"a":' + b"[" * 10_000 + b"]" * 10_000 + b"}}",
            "nested too deeply",
        ),
        (b'{"jsonrpc":"2.0","id":7,"result":{"a":' + b"1" * 5_000 + b"}}", "digits"),
        (
            b'{"result":{"a":' + b"[" * 10_000 + b"]" * 10_000 + b'},"jsonrpc":"2.0","id":7}',
            "nested too deeply",
        ),
        (b'{"id":7,"jsonrpc":"2.0","error":{"message":' + b"[" * 10_000 + b"}}", "nested too deeply"),
        (b'{"id":7,"jsonrpc":"2.0","result":{"cut":', "Expecting value"),
        (b'{"jsonrpc":"2.0","id":7,"result":{"rows":[' + b"1," * 200_000 + b"}}", "not valid JSON"),
    ],
)
def test_an_answer_that_cannot_be_read_names_its_request_and_the_reason(line: bytes, reason: str):
    with pytest.raises(NotAMessage) as caught:
        (decode_large if is_large(line) else decode)(line)
    assert caught.value.answer is not None
    assert caught.value.answer["id"] == 7
    assert reason in caught.value.answer["error"]["message"]


@pytest.mark.parametrize(
    "line",
    [
        b'DEBUG sent {"jsonrpc":"2.0","id":7,"result":{"cut":',
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"cut":',
        b'{"level":"info","jsonrpc":"2.0","id":7,"result":{"cut":',
        b'{"result":{"cut":1},"jsonrpc":"2.0","id":"server-error"',
        b'{"id":"7","jsonrpc":"2.0","result":{"cut":',
        b'{"id":7.0,"jsonrpc":"2.0","result":{"cut":',
        b'{"id":7e0,"jsonrpc":"2.0","result":{"cut":',
    ],
)
def test_a_damaged_line_that_only_mentions_an_answer_fails_no_request(line: bytes):
    with pytest.raises(NotAMessage) as caught:
        decode(line)
    assert caught.value.answer is None


def test_what_follows_a_damaged_answer_is_kept_and_the_damaged_one_fails():
    messages = decode(b'{"jsonrpc":"2.0","id":7,"result":{"cut' + WIRE)
    assert messages[0] == REPLY
    assert messages[1]["id"] == 7
    assert "error" in messages[1]


# Large lines


@given(JSON_VALUES, st.sampled_from([64, 100, 512]))
def test_a_large_message_is_read_as_a_small_one_is(value: Any, window: int):
    message = {"jsonrpc": "2.0", "id": 1, "result": {"value": value, "again": [value] * 20}}
    for written in (json.dumps(message), json.dumps(message, ensure_ascii=False, indent=1)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(large, "WINDOW", window)
            patch.setattr(large, "STRING_STEP", window)
            patch.setattr(large, "_MAX_DEPTH", 100)
            patch.setattr(large, "_FAILURES", 1_000_000)
            assert decode_large(written.encode()) == [message]


@pytest.mark.parametrize(
    "text", ["x", "é", "あ", "😀", "\n", '"', "\\", "\ud83d", 'a\\"b', "plain text, then\n"]
)
@pytest.mark.acceptance
def test_a_long_string_is_read_whole(text: str):
    reply = {"jsonrpc": "2.0", "id": 1, "result": {"text": text * 700_000}}
    assert decode_large(json.dumps(reply).encode()) == [reply]
    if text != "\ud83d":
        assert decode_large(json.dumps(reply, ensure_ascii=False).encode()) == [reply]


def _rows(row: str, count: int) -> bytes:
    return b'{"jsonrpc":"2.0","id":1,"result":{"rows":[%b]}}' % ",".join([row] * count).encode()


@pytest.mark.parametrize(
    "row", ["1", "[]", '"a, b"', '{"a":1,"b":"x"}', '{"a":{"b":[1,{"c":"},{"}]},"d":[]}']
)
@pytest.mark.acceptance
def test_a_large_list_is_read_whole(row: str):
    line = _rows(row, 100_000)
    assert is_large(line)
    assert decode_large(line) == [json.loads(line)]


def test_a_large_message_knows_its_size():
    line = _rows("1", 100_000)
    assert decode_large(line)[0]["result"].wire_bytes == len(line)


@pytest.mark.parametrize(
    "around", [(b"Loading... ", b""), (b"", b" done"), (b"\xef\xbb\xbf", b"\r"), (b"\xe9 ", b"")]
)
def test_a_large_message_is_found_in_what_surrounds_it(around: tuple[bytes, bytes]):
    line = _rows("1", 200_000)
    assert decode_large(around[0] + line + around[1]) == [json.loads(line)]


def test_bytes_that_are_no_utf8_cost_only_themselves_in_a_large_message_too():
    line = _rows('"caf"', 100_000)
    rows = decode_large(line.replace(b"caf", b"caf\xe9"))[0]["result"]["rows"]
    assert rows == ["caf\ufffd"] * 100_000


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":[' * 64 + b"1," * 200_000,
        b'{"jsonrpc":"2.0","id":1,"result":[' + b"1 " * 200_000,
        b'{"jsonrpc":"2.0","id":1,"result":"' + b"x" * 500_000,
        b"[" * 500_000,
        b'{"a":' * 100_000,
        b"1" * 500_000,
        b" " * 500_000,
    ],
)
def test_large_rubbish_is_no_message(line: bytes):
    with pytest.raises(NotAMessage):
        decode_large(line)


def test_the_collector_works_again_after_a_large_message():
    assert gc.isenabled()
    decode_large(_rows("[]", 100_000))
    assert gc.isenabled()
