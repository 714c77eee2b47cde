"""Bytes to messages and back; forgiving in what it reads, exact in what it writes.

pydantic-core's parser is several times faster than the standard library's and keeps big integers whole. What
it refuses (lone surrogates, bytes that are no UTF-8, text glued to a message) gets a second chance with the
standard library, so that a server's odd character costs that character and not the connection.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from pydantic_core import from_json, to_json

from toolcrib.errors import UsageError
from toolcrib.servers.link import Message

_OPENING = re.compile(r'\{\s*"(?:jsonrpc|id|method|params|result|error)"\s*:')
_ATTEMPTS = 64
"""How many places of a damaged line are tried as the beginning of a message."""
_DECODER = json.JSONDecoder()


class NotAMessage(ValueError):
    """The line holds no JSON-RPC message."""


def encode(message: Message) -> bytes:
    """One message as one line of JSON, without the newline; raises `UsageError` for what JSON cannot hold.

    A number that is none (NaN, infinity) becomes null, as in JavaScript: the other side could not read it.
    """
    try:
        return to_json(message, inf_nan_mode="null")
    except ValueError:  # lone surrogates, or nested deeper than it goes
        return _encode_slowly(message)


def decode(line: bytes | bytearray) -> list[Message]:
    """The messages of one line (several only where a batch was sent); raises `NotAMessage`."""
    try:
        value = from_json(line)
    except ValueError:
        return _second_chance(bytes(line))
    if type(value) is dict and (
        ("jsonrpc" in value and "result" in value and "id" in value) or _is_message(value)
    ):
        return [value]
    return _messages_among(value)


def _is_message(value: dict[str, Any]) -> bool:
    """A line of a log may well have an `id` and a `method`; the version is what tells a message."""
    if "jsonrpc" not in value:
        return False
    return "method" in value or "error" in value or ("id" in value and "result" in value)


def _messages_among(value: object) -> list[Message]:
    items = value if isinstance(value, list) else [value]
    messages = [item for item in items if isinstance(item, dict) and _is_message(item)]
    if not messages:
        raise NotAMessage
    return messages


def _second_chance(line: bytes) -> list[Message]:
    """Past a byte-order mark, characters that are no UTF-8, or text around the message."""
    text = line.decode("utf-8-sig", "replace")
    try:
        return _messages_among(json.loads(text))
    except (ValueError, RecursionError):
        return _messages_among([value for value in _objects_in(text) if not _is_request(value)])


def _objects_in(text: str) -> Iterator[Any]:
    start = 0
    for _ in range(_ATTEMPTS):
        opening = _OPENING.search(text, start)
        if opening is None:
            return
        try:
            value, start = _DECODER.raw_decode(text, opening.start())
        except ValueError:
            start = opening.end()
        except RecursionError:
            return
        else:
            yield value


def _is_request(value: dict[str, Any]) -> bool:
    """In the middle of other text this is rather the echo of a request of ours in somebody's log."""
    return "method" in value and "id" in value


def _encode_slowly(message: Message) -> bytes:
    try:
        finite = json.loads(json.dumps(message), parse_constant=lambda name: None)
        return json.dumps(finite, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"This cannot be written as JSON: {error}.",
            hint="Use text, numbers, true, false, null, lists and objects with text keys.",
        ) from None
