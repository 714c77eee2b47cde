"""Writes JSON that every client can read, whatever a server or a tool returns.

A number that JSON cannot hold (NaN, infinity) becomes null, half of a surrogate pair the replacement
character, and nesting goes as deep as Python's own encoder can follow.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import to_json

from toolcrib.serverkit.protocol import INTERNAL_ERROR, Message, Refusal, refuse


class Unencodable(ValueError):
    """The value cannot be written as JSON; the message says why."""


def encode(value: Any) -> bytes:
    """The value as JSON in UTF-8, values of unknown types as their text; raises `Unencodable`."""
    try:
        return to_json(value, inf_nan_mode="null", fallback=str)
    except ValueError:  # half of a surrogate pair, or nested deeper than this encoder goes
        return _encode_slowly(value)


def encode_message(message: Message | list[Message]) -> bytes:
    """A message, or a batch of them, as JSON. One that cannot be written becomes an error with its id."""
    try:
        return encode(message)
    except Unencodable as error:
        if isinstance(message, list):
            return b"[%b]" % b",".join(map(encode_message, message))
        refusal = Refusal(INTERNAL_ERROR, f"The result cannot be written as JSON: {error}.")
        return encode(refuse(message.get("id"), refusal))


def _encode_slowly(value: Any) -> bytes:
    try:
        finite = json.loads(json.dumps(value, default=str), parse_constant=lambda name: None)
        text = json.dumps(finite, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise Unencodable("it is nested too deeply") from None
    except (TypeError, ValueError) as error:
        raise Unencodable(str(error)) from None
    return _without_halves(text).encode()


def _without_halves(text: str) -> str:
    """Surrogates that belong together become their character, others the replacement character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
