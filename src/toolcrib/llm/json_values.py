"""Writes valid JSON (no NaN, lone surrogates, deep nesting or huge numbers) and reads JSON of any shape."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

DEEPEST = 64
"""Levels of nesting; serde_json accepts 128, protobuf 100, and a message adds its own."""
_OMITTED = "(nested too deeply)"


def clean_text(text: str) -> str:
    """The text without lone surrogates; two matching halves become their character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def is_valid(value: object, depth: int = 0) -> bool:
    if isinstance(value, str):
        return clean_text(value) == value
    if isinstance(value, Mapping):
        return depth < DEEPEST and all(
            is_valid(key) and is_valid(inner, depth + 1) for key, inner in value.items()
        )
    if isinstance(value, list | tuple):
        return depth < DEEPEST and all(is_valid(item, depth + 1) for item in value)
    return not isinstance(value, int | float) or _is_finite(value)


def made_valid(value: Any, depth: int = 0) -> Any:
    """The same value with every invalid part as text."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        if depth >= DEEPEST:
            return _OMITTED
        return {clean_text(str(key)): made_valid(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return _OMITTED if depth >= DEEPEST else [made_valid(item, depth + 1) for item in value]
    if isinstance(value, int | float) and not _is_finite(value):
        return str(value) if isinstance(value, float) else "(a number that is too large)"
    return value


def encode(value: object) -> bytes:
    """Valid JSON in UTF-8, whatever the value."""
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        written = json.dumps(made_valid(value), ensure_ascii=False, allow_nan=False)
    return clean_text(written).encode()


def decode(text: str) -> Any:
    """The value of a JSON text; raises `ValueError`, also if nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # An integer too large for a double.
        return False


Json = dict[str, Any]
_LARGEST_COUNT = 10**12


def table(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def tables(value: object) -> list[Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def identifier(value: object) -> str:
    """A name or an id; some servers send numbers."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else text(value)


def count(value: object) -> int:
    """A number of tokens: never negative, and bounded."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return min(max(0, int(value)), _LARGEST_COUNT)
