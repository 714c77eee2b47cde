"""Reads and writes JSON on an event loop that others share, whatever a client, a server or a tool sends.

A number that JSON cannot hold (NaN, infinity) becomes null, half of a surrogate pair the replacement
character, and nesting goes as deep as Python's own encoder can follow. What is large is read and written in a
thread, in steps of a few milliseconds: a long call into a parser would stop the loop from there too.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

from pydantic_core import from_json, to_json

from toolcrib.serverkit.protocol import INTERNAL_ERROR, Message, Refusal, refuse

SMALL = 32 * 1024
"""Data up to this size is always parsed at once: ten milliseconds if it is nothing but brackets."""
_MANY_BYTES = 1024 * 1024
_MANY_VALUES = 8_000
_SAMPLE = 33
"""Of every so many bytes one is looked at: three digits in a row are a number of some hundred digits."""
MAX_HANDED_ON = 100_000
"""Values in a request or a result: so many take some 25 milliseconds to check against a schema."""
HEAVY = 256 * 1024
"""The weight of a value from which it is written in a thread; about the characters of its JSON."""
VALUE_WEIGHT = 32
_PAIR = rb"\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]"
_HALF = rb"\xed[\xa0-\xbf][\x80-\xbf]"
"""Surrogates in UTF-8, where they are not allowed. Compiled on first use."""


class Unencodable(ValueError):
    """The value cannot be written as JSON; the message says why."""


class Excessive(ValueError):
    """A message is valid and has more values, or longer numbers, than are accepted."""

    def __init__(self, reason: str, request_id: Any = None) -> None:
        super().__init__(reason)
        self.request_id = request_id


def is_large(data: bytes | bytearray) -> bool:
    """Whether parsing could hold the event loop for more than about ten milliseconds."""
    size = len(data)
    if size <= SMALL:
        return False
    if size > _MANY_BYTES or sum(map(data.count, (b",", b"[", b"{"))) > _MANY_VALUES:
        return True
    return re.search(rb"\d{3}", data[::_SAMPLE]) is not None


def weight(value: Any, most: int = HEAVY) -> int:
    """About the characters of a value as JSON, counted until there are more than `most`."""
    left = most
    pending: list[Any] = [(value,)]
    for many in pending:
        left -= len(many) * VALUE_WEIGHT
        if left < 0:
            break
        if isinstance(many, dict):
            try:
                left -= len("".join(many))
            except TypeError:  # a key that is no text
                left -= sum(len(str(key)) for key in many)
            many = many.values()
        for inner in many:
            kind = type(inner)
            if kind is str:
                left -= len(inner)
            elif kind is int:
                left -= inner.bit_length()  # a long number takes more time than its digits suggest
            elif kind is dict or kind is list or isinstance(inner, dict | list | tuple):
                pending.append(inner)
    return most - left


async def parse_any(data: bytes) -> Any:
    """The JSON value in a message of a client; raises `Excessive` or another `ValueError`."""
    if not is_large(data):
        return from_json(data)
    from toolcrib.serverkit.large_json import parse_large  # rarely needed

    return await asyncio.to_thread(parse_large, data)


async def encode_any(value: Any) -> bytes:
    """Like `encode`; a large value is encoded in a thread."""
    if weight(value) <= HEAVY:
        return encode(value)
    from toolcrib.serverkit.large_json import encode_large  # rarely needed

    return await asyncio.to_thread(encode_large, value)


async def encode_heavy_message(message: Message | list[Message]) -> bytes:
    """Like `encode_message`, in a thread and in short steps."""
    from toolcrib.serverkit.large_json import encode_large  # rarely needed

    return await asyncio.to_thread(encode_message, message, encode_large)


def encode(value: Any) -> bytes:
    """The value as JSON in UTF-8, values of unknown types as their text; raises `Unencodable`."""
    try:
        return to_json(value, inf_nan_mode="null", fallback=str)
    except ValueError:  # half of a surrogate pair, or nested deeper than this encoder goes
        return _encode_slowly(value)


def encode_message(message: Message | list[Message], write: Callable[[Any], bytes] = encode) -> bytes:
    """A message, or a batch of them, as JSON. One that cannot be written becomes an error with its id."""
    try:
        return write(message)
    except Unencodable as error:
        if isinstance(message, list):
            return b"[%b]" % b",".join(encode_message(each, write) for each in message)
        refusal = Refusal(INTERNAL_ERROR, f"The result cannot be written as JSON: {error}.")
        return encode(refuse(message.get("id"), refusal))


def _encode_slowly(value: Any) -> bytes:
    try:
        text = _dumps(value)
    except RecursionError:
        raise Unencodable("it is nested too deeply") from None
    except (TypeError, ValueError) as error:
        raise Unencodable(str(error)) from None
    return _without_surrogates(text.encode("utf-8", "surrogatepass"))


def _dumps(value: Any) -> str:
    try:
        return json.dumps(value, default=str, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:  # NaN, or a circle
        finite = json.loads(json.dumps(value, default=str), parse_constant=lambda name: None)
        return json.dumps(finite, ensure_ascii=False, separators=(",", ":"))


def _without_surrogates(data: bytes) -> bytes:
    """Those that belong together become their character, others the replacement character."""
    return re.sub(_HALF, "\N{REPLACEMENT CHARACTER}".encode(), re.sub(_PAIR, _joined, data))


def _joined(pair: re.Match[bytes]) -> bytes:
    halves = pair[0].decode("utf-8", "surrogatepass")
    return halves.encode("utf-16", "surrogatepass").decode("utf-16").encode()
