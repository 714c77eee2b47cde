"""Order, filter, field mask and pages of a list, in the form of the gRPC interface: default and largest page
size, syntax of filters, page tokens and their errors.

Only this process can make page tokens. A token is valid for the same list with the same arguments, so that a
page never continues another list.
"""

from __future__ import annotations

import base64
import binascii
import functools
import hashlib
import hmac
import re
import secrets
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from toolcrib.bundled.desktop.failures import InvalidFormat, InvalidPageToken, OutOfRange

T = TypeVar("T")
_CONDITION = re.compile(r'\s*(\w+)\s*=\s*("(?:[^"\\]|\\.)*"|[^\s"=]+)')
MAX_FILTER = 500

DEFAULT_SIZE = 50
LARGEST_SIZE = 1000
SIGNATURE = 8
_POSITION = struct.Struct(">IQ")


def ordered(items: Sequence[T], order_by: str, keys: Mapping[str, Callable[[T], Any]]) -> list[T]:
    """Sorted by a field such as `title` or `title desc`; unchanged without one."""
    field, _, direction = order_by.strip().partition(" ")
    if not field:
        return list(items)
    if field not in keys or direction.strip() not in ("", "asc", "desc"):
        raise InvalidFormat(
            f"order_by cannot be {order_by!r}.",
            f"Use one of {', '.join(keys)}, and desc after it to reverse.",
        )
    return sorted(items, key=keys[field], reverse=direction.strip() == "desc")


def filtered(items: Sequence[T], condition: str, fields: Mapping[str, Callable[[T], Any]]) -> list[T]:
    """Those that meet all conditions, such as `title="Report" visible=true`.

    A text matches if it contains the value, ignoring case; other values must be equal.
    """
    wanted = _conditions(condition, fields)
    return [item for item in items if all(_meets(fields[name](item), value) for name, value in wanted)]


def masked(data: Mapping[str, Any], read_mask: str) -> dict[str, Any]:
    """Only the fields of a mask such as `title,bounds`, and the name; all without one."""
    wanted = [field.strip() for field in read_mask.split(",") if field.strip()]
    unknown = [field for field in wanted if field not in data and field != "*"]
    if unknown:
        raise InvalidFormat(f"read_mask has no field {unknown[0]!r}.", f"The fields are {', '.join(data)}.")
    if not wanted or "*" in wanted:
        return dict(data)
    return {field: value for field, value in data.items() if field in wanted or field == "name"}


def _conditions(text: str, fields: Mapping[str, Any]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    place = 0
    while place < len(text.rstrip()):
        match = _CONDITION.match(text, place)
        if match is None or match[1] not in fields or len(text) > MAX_FILTER:
            example = " ".join(f'{name}="…"' for name in fields)
            raise InvalidFormat("filter is not valid.", f"Such as {example}, with one or more of these.")
        found.append((match[1], _unquoted(match[2])))
        place = match.end()
    return found


def _unquoted(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value


def _meets(actual: Any, wanted: str) -> bool:
    if isinstance(actual, str):
        return wanted.casefold() in actual.casefold()
    return str(actual).casefold() == wanted.casefold()


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
