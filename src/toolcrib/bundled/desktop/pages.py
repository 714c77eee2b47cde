"""Divides long lists into pages with tokens that only this process can make.

A token is valid for the same list with the same arguments, so that a page never continues another list.
"""

from __future__ import annotations

import base64
import binascii
import functools
import hashlib
import hmac
import secrets
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from toolcrib.bundled.desktop.failures import InvalidPageToken, OutOfRange

T = TypeVar("T")
DEFAULT_SIZE = 50
LARGEST_SIZE = 1000
SIGNATURE = 8
_POSITION = struct.Struct(">IQ")


@dataclass(frozen=True)
class ListPage(Generic[T]):
    items: Sequence[T]
    next_page_token: str
    """Empty on the last page."""
    more: int
    """How many items follow."""


def paginate(
    items: Sequence[T], page_size: int, page_token: str, *query: object, default: int = DEFAULT_SIZE
) -> ListPage[T]:
    """One page; `query` is what makes the list this one: the tool and its other arguments.

    A `page_size` of 0 means the default. Raises `InvalidPageToken` for a token of another list.
    """
    start, _ = read_token(page_token, *query) if page_token else (0, 0)
    shown = items[start : start + checked_size(page_size, default)]
    more = max(0, len(items) - start - len(shown))
    following = make_token(start + len(shown), 0, *query) if more else ""
    return ListPage(shown, following, more)


def checked_size(page_size: int, default: int = DEFAULT_SIZE) -> int:
    if page_size < 0:
        raise OutOfRange("page_size must not be negative.", f"Leave it out for {default}.")
    return min(page_size or default, LARGEST_SIZE)


def make_token(start: int, number: int, *query: object) -> str:
    """A token for the place in a list, with a number of the caller's own."""
    position = _POSITION.pack(start, number)
    return base64.urlsafe_b64encode(position + _sign(position, query)).decode().rstrip("=")


def read_token(token: str, *query: object) -> tuple[int, int]:
    """The place and the number of a token; raises `InvalidPageToken` if it is not one of this list."""
    try:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) == _POSITION.size + SIGNATURE:
        start, number = _POSITION.unpack(raw[: _POSITION.size])
        # As a whole: characters at the end of a token can differ and mean the same bytes.
        expected = make_token(start, number, *query)
        if hmac.compare_digest(token.encode("utf-8", "replace"), expected.encode()):
            return start, number
    raise InvalidPageToken(
        "page_token is not valid for this list.", "Ask for the first page again, without page_token."
    )


def _sign(position: bytes, query: tuple[object, ...]) -> bytes:
    message = position + repr(query).encode("utf-8", "replace")
    return hashlib.blake2b(message, key=_key(), digest_size=SIGNATURE).digest()


@functools.cache
def _key() -> bytes:
    return secrets.token_bytes(32)
