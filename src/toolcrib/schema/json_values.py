"""Writes our data as JSON values: the frozen dataclasses that operations and their events consist of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any

_JSON = frozenset({str, int, float, bool, type(None)})
OMITTED = {"omitted": True}
"""Metadata of a field that is left out of the JSON object while it has its default value."""


def to_json(value: Any) -> Any:
    """The value with every dataclass as an object of its fields; other JSON values are unchanged."""
    if type(value) in _JSON:
        return value
    if isinstance(value, Mapping):
        return {key: to_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | frozenset):
        return [to_json(inner) for inner in value]
    if is_dataclass(value):
        return _object(value)
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, Enum):
        return value.value
    return value


def _object(value: Any) -> dict[str, Any]:
    kind: Any = type(value)
    found = {name: getattr(value, name) for name in _field_names(kind)}
    for name, default in omitted_fields(kind).items():
        if found[name] == default:
            del found[name]
    return {name: to_json(inner) for name, inner in found.items()}


def moment(time: datetime) -> str:
    """ISO 8601 with milliseconds."""
    return time.isoformat(timespec="milliseconds")


@cache
def omitted_fields(kind: Any) -> dict[str, Any]:
    """The fields of a dataclass that may be left out, with their defaults."""
    return {field.name: field.default for field in fields(kind) if field.metadata.get("omitted")}


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
