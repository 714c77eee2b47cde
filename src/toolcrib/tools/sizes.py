"""Tells how large a result is without writing it out again when that can be helped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_MAX_NODES = 500
"""Values looked at one by one; a result of more, such as a long table, is measured by writing it out."""
_SAMPLE = 16_384
_SHORT_ANSWER = 61
"""What stands around one text: `content`, its kind, `isError`."""
_CONTAINER = 2
_SCALAR = 5
"""About what a number, a boolean or null takes in JSON."""


def result_size(result: Any) -> int:
    """The bytes of a result: as its source received it where known, else close to its size as JSON."""
    hint = getattr(result, "wire_bytes", None)
    return hint if isinstance(hint, int) else value_size(result)


def short_answer_size(result: dict[str, Any]) -> int:
    """The size of the most usual answer, one plain text; 0 for any other. Cheaper than `result_size`."""
    content = result.get("content")
    if len(result) > 2 or type(content) is not list or len(content) != 1:
        return 0
    if len(result) == 2 and "isError" not in result:
        return 0
    block = content[0]
    text = block.get("text") if type(block) is dict and len(block) == 2 else None
    return len(text) + _SHORT_ANSWER if type(text) is str and text.isascii() else 0


def value_size(value: Any) -> int:
    """Close to the size of a value as JSON in UTF-8; escapes inside strings are not counted."""
    total = 0
    pending = [value]
    budget = _MAX_NODES
    while pending:
        item = pending.pop()
        kind = type(item)
        if kind is str:
            total += (len(item) if item.isascii() else text_size(item)) + 3
        elif kind is dict:
            total += _CONTAINER
            for key in item:
                total += len(key) + 4 if type(key) is str else _SCALAR
            pending += item.values()
            budget -= len(item)
        elif isinstance(item, list | tuple | Mapping):
            total += _CONTAINER
            pending += item.values() if isinstance(item, Mapping) else item
            budget -= len(item)
        else:
            total += _SCALAR
        if budget < 0:
            return _written_size(value)
    return total


def text_size(text: str) -> int:
    """The bytes of a text in UTF-8; a long one beyond ASCII is judged by its beginning."""
    if text.isascii():
        return len(text)
    sample = text[:_SAMPLE]
    bytes_of_sample = len(sample.encode("utf-8", "surrogatepass"))
    return bytes_of_sample * len(text) // len(sample)


def _written_size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=True, default=repr, skipkeys=True))
