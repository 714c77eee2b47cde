"""Messages as plain data with the same field names, and back: enums as lower-case words, times as seconds or
RFC 3339, and pages of lists with their default size.

In plain data a choice is a lower-case word without the prefix of its enum, and a moment is in seconds since
1970, or in the format of RFC 3339. A list is answered in pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from google.protobuf import json_format

from toolcrib.bundled.desktop.lists import paginate

_ZEROS: Mapping[str, Mapping[str, Any]] = {
    "position": {"x": 0.0, "y": 0.0},
    "start_position": {"x": 0.0, "y": 0.0},
    "end_position": {"x": 0.0, "y": 0.0},
    "region": {"x": 0.0, "y": 0.0, "width": 0.0, "height": 0.0},
    "variable_equals": {"value": ""},
}
"""Required values that are left out of messages if they are zero or empty."""

T = TypeVar("T")
DEFAULT = 100


def to_plain(message: Any) -> dict[str, Any]:
    """Only what is set; enum values keep their full names."""
    plain = json_format.MessageToDict(message, preserving_proto_field_name=True)
    completed: dict[str, Any] = _completed(plain)
    return completed


def _completed(value: Any) -> Any:
    if isinstance(value, list):
        return [_completed(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _completed({**_ZEROS.get(key, {}), **item} if isinstance(item, dict) else item)
        for key, item in value.items()
    }


def to_message(kind: Any, data: Any) -> Any:
    """A message of this class from a dataclass, a mapping or such a message; other fields are ignored."""
    if isinstance(data, kind):
        return data
    made = kind()
    for field in kind.DESCRIPTOR.fields:
        value = data.get(field.name) if isinstance(data, Mapping) else getattr(data, field.name, None)
        if value is not None:
            _set(made, field, value)
    return made


def _set(message: Any, field: Any, value: Any) -> None:
    target = getattr(message, field.name)
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        target.update(value)
    elif field.is_repeated:
        target.extend(_converted(field, item) for item in value)
    elif field.message_type is not None:
        target.SetInParent()  # an empty message chooses its field, too
        target.CopyFrom(_converted(field, value))
    else:
        setattr(message, field.name, _converted(field, value))


def _converted(field: Any, value: Any) -> Any:
    if field.enum_type is not None:
        return _enum_number(field.enum_type, value)
    if field.message_type is None:
        return value
    from toolcrib.bundled.desktop.grpc.schema import Duration, Timestamp, message_class

    kind = message_class(field.message_type)
    made = kind()
    if kind is Timestamp:
        if isinstance(value, str):
            made.FromJsonString(value)
        else:
            made.FromDatetime(datetime.fromtimestamp(value, UTC))
    elif kind is Duration:
        made.FromNanoseconds(round(value * 1e9))
    else:
        return to_message(kind, value)
    return made


def _enum_number(enum: Any, word: str) -> int:
    """Of `left` in an enum with CLICK_TYPE_LEFT; 0 for an unknown word."""
    wanted = f"_{word.upper()}"
    found = [value.number for value in enum.values if value.name == word or value.name.endswith(wanted)]
    return int(found[0]) if found else 0


def page_of(request: Any, items: Sequence[T], default: int = DEFAULT) -> tuple[Sequence[T], str]:
    """The page, and the signed token of the next one, which is valid only for the same request."""
    same = type(request)()
    same.CopyFrom(request)
    same.ClearField("page_token")
    same.ClearField("page_size")
    query = request.DESCRIPTOR.full_name, same.SerializeToString(deterministic=True)
    page = paginate(items, request.page_size, request.page_token, *query, default=default)
    return page.items, page.next_page_token
