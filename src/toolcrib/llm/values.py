"""Reads JSON of unknown shape: a missing field, or one of another type, is empty and never an error."""

from __future__ import annotations

import math
from typing import Any

Json = dict[str, Any]
_LARGEST_COUNT = 10**12


def table(value: object) -> Json:
    """An object."""
    return value if isinstance(value, dict) else {}


def tables(value: object) -> list[Json]:
    """The objects of a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def text(value: object) -> str:
    """A string."""
    return value if isinstance(value, str) else ""


def identifier(value: object) -> str:
    """A name or an id; some servers send a number."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else text(value)


def count(value: object) -> int:
    """A number of tokens: never negative, never more than any model can read."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return min(max(0, int(value)), _LARGEST_COUNT)
