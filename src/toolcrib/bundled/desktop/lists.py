"""Order, filter and field mask of a list, in the form of the gRPC interface."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from toolcrib.bundled.desktop.failures import InvalidFormat

T = TypeVar("T")
_CONDITION = re.compile(r'\s*(\w+)\s*=\s*("(?:[^"\\]|\\.)*"|[^\s"=]+)')
MAX_FILTER = 500


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
