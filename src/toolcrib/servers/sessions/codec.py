"""Encodes and decodes JSON-RPC messages; lenient in what it reads (log text around a message, invalid UTF-8),
strict in what it writes. Limits: values in a message, messages in a batch.

pydantic-core's parser is several times faster than the standard library's and keeps big integers exact. Input
that it rejects (lone surrogates, invalid UTF-8, text around a message) is parsed again with the standard
library, so that an odd character does not cost the connection.
"""

from __future__ import annotations

import asyncio
import codecs
import json
import re
import time
from collections.abc import Iterator
from typing import Any

from pydantic_core import from_json, to_json

from toolcrib.errors import UsageError
from toolcrib.serverkit.encoding import HEAVY, MAX_HANDED_ON, SMALL, is_large, weight
from toolcrib.servers.transport import Message

_OPENING = r'\{\s*"(?:jsonrpc|id|method|params|result|error)"\s*:'
"""Patterns are compiled on first use: most servers never write a malformed line."""
_ATTEMPTS = 64
"""How many positions of a malformed line are tried as the start of a message."""
_LARGE_ATTEMPTS = 2
_LONGEST_PREFIX = 64 * 1024
"""How far into a large line the start of a message is searched."""
MAX_VALUES = 1_000_000
"""In one message; twenty thousand tools have about half of that."""
MAX_BATCH = 1000
"""Messages in one line."""
_FEW = 8
_BOM = b"\xef\xbb\xbf"
_DECODER = json.JSONDecoder()
PARSE_ERROR = -32700
_ENDS = 512
"""Bytes at either end of a malformed line in which the id of an answer is searched."""
_VERSION = rb'"jsonrpc"\s*:\s*"[^"]*"'
_ID = rb'"id"\s*:\s*(?P<id>\d{1,15})(?![.\d])'
_ANSWER_HEAD = rb'(?:\xef\xbb\xbf)?\s*\{\s*(?:(?:%b|%b)\s*,\s*){1,2}"(?:result|error)"\s*:' % (_VERSION, _ID)
_RESULT_HEAD = rb'(?:\xef\xbb\xbf)?\s*\{\s*(?:%b\s*,\s*)?"(?:result|error)"\s*:' % _VERSION
_ANSWER_TAIL = rb"(?:,\s*(?:%b|%b)\s*){1,2}\}\s*$" % (_VERSION, _ID)


class NotAMessage(ValueError):
    """The line is not a JSON-RPC message."""

    def __init__(self, answer: Message | None = None) -> None:
        super().__init__()
        self.answer = answer
        """An error for the request that the line answers, if its id is readable."""
        self.seconds = 0.0
        """CPU time that a thread used to find out."""


class _Refused(Exception):
    """The answer is valid, and more than is accepted."""


class Measured(dict[str, Any]):
    """A large result with its size on the wire."""

    wire_bytes = 0
    many_values = False
    """Whether it has more than `MAX_HANDED_ON`."""


def encode(message: Message) -> bytes:
    """A message as a line of JSON, without the newline; NaN becomes null. Raises `UsageError`."""
    try:
        return to_json(message, inf_nan_mode="null")
    except ValueError:  # lone surrogates, or nested too deeply
        return _encode_slowly(message)


def encode_light(message: Message) -> bytes | None:
    """Like `encode`; None for a message that is so large that it would hold the event loop."""
    params = message.get("params") or {}
    arguments: Any = params.get("arguments")
    plain = type(arguments) is dict and len(arguments) <= _FEW and len(params) <= _FEW
    # The usual call has a few short values, and saves a function call.
    for name, value in arguments.items() if plain and arguments else ():
        kind = type(value)
        if kind is not int and kind is not bool and (kind is not str or len(value) + len(name) > SMALL):
            plain = False
            break
    if not plain and weight(message) > HEAVY:
        return None
    try:
        return to_json(message, inf_nan_mode="null")
    except ValueError:
        return _encode_slowly(message)


async def encode_any(message: Message) -> bytes:
    """Like `encode`; a large message is encoded in a thread."""
    if weight(message) <= HEAVY:
        return encode(message)
    from toolcrib.serverkit.encoding import encode_large  # rarely needed

    return await asyncio.to_thread(encode_large, message, encode)


def decode(line: bytes | bytearray) -> list[Message]:
    """The messages of one line (several for a batch); raises `NotAMessage`."""
    try:
        value = from_json(line)
    except ValueError:
        return _decode_leniently(bytes(line))
    if type(value) is dict and (
        ("jsonrpc" in value and "result" in value and "id" in value) or _is_message(value)
    ):
        return [value]
    return _messages_among(value)


async def decode_any(line: bytes | bytearray) -> list[Message]:
    """Like `decode`; a large line is parsed in a thread."""
    return (await decode_timed(line))[0]


async def decode_timed(line: bytes | bytearray) -> tuple[list[Message], float]:
    """Like `decode_any`, with the CPU time that a thread used."""
    return await asyncio.to_thread(_timed, line) if is_large(line) else (decode(line), 0.0)


def _timed(line: bytes | bytearray) -> tuple[list[Message], float]:
    began = time.thread_time()
    try:
        return decode_large(bytes(line)), time.thread_time() - began
    except NotAMessage as error:
        error.seconds = time.thread_time() - began
        raise


def decode_large(line: bytes) -> list[Message]:
    """Like `decode`, in short steps that let other threads run."""
    from toolcrib.serverkit import encoding  # rarely needed

    data = line.removeprefix(_BOM)
    try:
        value, end = encoding.read_large(data)
    except UnicodeDecodeError:
        return decode_large(_as_utf8(data))
    except ValueError as error:
        return _messages_of_malformed(data, _objects_in_large(data), error)
    refused = ""
    if len(line) > MAX_VALUES and encoding.has_more_values(value, MAX_VALUES):
        refused = f"more than {MAX_VALUES:,} values"
    elif (where := encoding.long_number(value)) is not None:
        refused = f"a number of more than {encoding.MAX_DIGITS} digits at {where}"
    if refused:
        encoding.free(value)
        return _messages_of_malformed(data, [], _Refused(refused))
    if data[end : end + SMALL].strip():
        return _messages_among([value, *_objects_in_large(data[end:])])
    try:
        return [_measured(message, len(line)) for message in _messages_among(value)]
    except NotAMessage:
        encoding.free(value)
        raise


def _is_message(value: dict[str, Any]) -> bool:
    """A log line may have an `id` and a `method`; only `jsonrpc` identifies a message."""
    if "jsonrpc" not in value:
        return False
    return "method" in value or "error" in value or ("id" in value and "result" in value)


def _messages_among(value: object) -> list[Message]:
    items = value if isinstance(value, list) else [value]
    messages = [item for item in items if isinstance(item, dict) and _is_message(item)]
    if not messages or len(messages) > MAX_BATCH:
        raise NotAMessage
    return messages


def _decode_leniently(line: bytes) -> list[Message]:
    """Tolerates a byte-order mark, invalid UTF-8, and text around the message."""
    text = line.decode("utf-8-sig", "replace")
    try:
        return _messages_among(json.loads(text))
    except NotAMessage:
        raise
    except (ValueError, RecursionError) as error:
        found = [value for value in _objects_in(text) if not _is_request(value)]
        return _messages_of_malformed(line, found, error)


def _messages_of_malformed(line: bytes, found: list[Any], error: Exception) -> list[Message]:
    """The messages found, plus an error for the answered request if its answer was not among them."""
    messages = [value for value in found if _is_message(value)]
    answered = _answered_id(line)
    if answered is None or any(message.get("id") == answered for message in messages):
        return _messages_among(messages)
    failure = {"code": PARSE_ERROR, "message": _reason(error)}
    answer: Message = {"jsonrpc": "2.0", "id": answered, "error": failure}
    if not messages:
        raise NotAMessage(answer)
    return [*messages, answer]


def _reason(error: Exception) -> str:
    if isinstance(error, _Refused):
        return f"The answer has {error}, which is refused."
    reason = "nested too deeply" if isinstance(error, RecursionError) else str(error).partition(";")[0]
    return f"The answer is not valid JSON: {reason}."


def _answered_id(line: bytes) -> int | None:
    """The id of the request that a malformed line answers; None if unclear."""
    head, tail = line[:_ENDS], line[-_ENDS:]
    found = re.match(_ANSWER_HEAD, head) or (re.match(_RESULT_HEAD, head) and re.search(_ANSWER_TAIL, tail))
    return int(found["id"]) if found and found["id"] else None


def _objects_in(text: str) -> Iterator[Any]:
    """The objects in a malformed line; all failed attempts together read the text at most once."""
    start, unread = 0, len(text)
    for _ in range(_ATTEMPTS):
        opening = re.compile(_OPENING).search(text, start)
        if opening is None or unread <= 0:
            return
        try:
            value, start = _DECODER.raw_decode(text, opening.start())
        except json.JSONDecodeError as error:
            unread -= error.pos - opening.start()
            start = opening.end()
        except (ValueError, RecursionError):
            return
        else:
            yield value


def _objects_in_large(data: bytes) -> list[Any]:
    """Messages after a short text, in a line too large to search completely."""
    from toolcrib.serverkit.encoding import read_large

    start, found = 0, []
    large_opening = re.compile(_OPENING.encode())
    for _ in range(_LARGE_ATTEMPTS):
        opening = large_opening.search(data, start, start + _LONGEST_PREFIX)
        if opening is None:
            break
        try:
            value, start = read_large(data, opening.start())
        except ValueError:
            start = opening.end()
        else:
            found.append(value)
    return [value for value in found if not _is_request(value)]


def _as_utf8(data: bytes) -> bytes:
    """The bytes with invalid UTF-8 replaced."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    steps = range(0, len(data), SMALL)
    return b"".join(decoder.decode(data[at : at + SMALL], at + SMALL >= len(data)).encode() for at in steps)


def _measured(message: Message, size: int) -> Message:
    from toolcrib.serverkit.encoding import has_more_values

    result = message.get("result")
    if not isinstance(result, dict):
        return message
    measured = Measured(result)
    measured.wire_bytes = size
    measured.many_values = size > MAX_HANDED_ON and has_more_values(result, MAX_HANDED_ON)
    return {**message, "result": measured}


def _is_request(value: dict[str, Any]) -> bool:
    """Inside other text this is probably a log echo of our own request."""
    return "method" in value and "id" in value


def _encode_slowly(message: Any) -> bytes:
    try:
        return _dumps(message).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"Not valid as JSON: {error}.",
            hint="Use text, numbers, true, false, null, lists and objects with text keys.",
        ) from None


def _dumps(message: Any) -> str:
    try:
        return json.dumps(message, separators=(",", ":"), allow_nan=False)
    except ValueError:  # NaN, or a circle
        finite = json.loads(json.dumps(message), parse_constant=lambda name: None)
        return json.dumps(finite, separators=(",", ":"))
