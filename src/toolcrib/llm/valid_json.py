"""Keeps what is sent valid JSON: no NaN, no lone surrogate, nothing nested too deeply, no huge number."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

DEEPEST = 64
"""Levels of nesting; serde_json reads 128 of them, protobuf 100, and a message adds its own."""
_OMITTED = "(nested too deeply)"


def clean_text(text: str) -> str:
    """The text without lone surrogates; two halves that belong together become their character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def is_valid(value: object, depth: int = 0) -> bool:
    """Whether every JSON parser takes this value."""
    if isinstance(value, str):
        return clean_text(value) == value
    if isinstance(value, Mapping):
        return depth < DEEPEST and all(
            is_valid(key) and is_valid(one, depth + 1) for key, one in value.items()
        )
    if isinstance(value, list | tuple):
        return depth < DEEPEST and all(is_valid(one, depth + 1) for one in value)
    return not isinstance(value, int | float) or _is_finite(value)


def made_valid(value: Any, depth: int = 0) -> Any:
    """The same value with every part that some parser refuses written as text."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        if depth >= DEEPEST:
            return _OMITTED
        return {clean_text(str(key)): made_valid(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return _OMITTED if depth >= DEEPEST else [made_valid(one, depth + 1) for one in value]
    if isinstance(value, int | float) and not _is_finite(value):
        return str(value) if isinstance(value, float) else "(a number that is too large)"
    return value


def encode(value: object) -> bytes:
    """Valid JSON in UTF-8, whatever the value holds."""
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        written = json.dumps(made_valid(value), ensure_ascii=False, allow_nan=False)
    return clean_text(written).encode()


def decode(text: str) -> Any:
    """The value of a JSON text; raises `ValueError`, also for one that is nested without end."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # An integer beyond the range of a double.
        return False
