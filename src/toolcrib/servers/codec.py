"""Bytes to messages and back; forgiving in what it reads, exact in what it writes.

pydantic-core's parser is several times faster than the standard library's and keeps big integers whole. What
it refuses (lone surrogates, bytes that are no UTF-8) gets a second chance with the standard library, so that
a server's odd character costs that character and not the connection.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import from_json, to_json

from toolcrib.servers.link import Message

_BOM = b"\xef\xbb\xbf"
_START = b'{"jsonrpc"'


class NotAMessage(ValueError):
    """The line holds no JSON-RPC message."""


def encode(message: Message) -> bytes:
    """One message as one line of JSON, without the newline."""
    try:
        return to_json(message)
    except ValueError:  # lone surrogates
        return json.dumps(message, separators=(",", ":")).encode()


def decode(line: bytes | bytearray) -> list[Message]:
    """The messages of one line (several only where a batch was sent); raises `NotAMessage`."""
    try:
        value = from_json(line)
    except ValueError:
        value = _second_chance(bytes(line))
    if type(value) is dict and _is_message(value):
        return [value]
    if isinstance(value, list):
        messages = [item for item in value if isinstance(item, dict) and _is_message(item)]
        if messages:
            return messages
    raise NotAMessage


def _is_message(value: dict[str, Any]) -> bool:
    return "method" in value or ("id" in value and ("result" in value or "error" in value))


def _second_chance(line: bytes) -> object:
    """Past a byte-order mark, text glued in front of the message, or characters that are no UTF-8."""
    line = line.removeprefix(_BOM)
    start = line.find(_START)
    if start < 0:
        start = 0
    try:
        return json.loads(line[start:].decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise NotAMessage from None
