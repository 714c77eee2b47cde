"""The headers of a modern request must say the same as its body, so that those in between can trust them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

from toolcrib.serverkit.protocol import Message, Refusal
from toolcrib.servers.remote.headers import standard_headers

HEADER_MISMATCH = -32020
_WRAPPING = ("=?base64?", "?=")


def check_headers(message: Message, version: str, headers: Mapping[str, str]) -> None:
    """Raise a refusal when a header is missing or contradicts the body."""
    for name, expected in standard_headers(message, version).items():
        given = headers.get(name.lower())
        if given is None:
            raise Refusal(HEADER_MISMATCH, f"The header {name} is missing.")
        if _unwrapped(given) != _unwrapped(expected):
            raise Refusal(HEADER_MISMATCH, f"The header {name} does not say what the request says.")


def _unwrapped(value: str) -> str:
    """The text of a header value, which is in base64 where it would not be plain ASCII."""
    opening, closing = _WRAPPING
    if not (value.startswith(opening) and value.endswith(closing)):
        return value
    try:
        return base64.b64decode(value[len(opening) : -len(closing)], validate=True).decode()
    except (binascii.Error, ValueError):
        return value
