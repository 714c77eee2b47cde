"""Recognises schemas whose references would take too long to follow."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toolcrib.schema.json_schema import follow

MAX_UNFOLDED = 10_000
"""Schema nodes with all references followed; of 3,700 real tools the largest has 8,400, the median six."""
MAX_DEPTH = 200


def is_reasonable(schema: Mapping[str, Any]) -> bool:
    """Whether following all references of a schema once stays within bounds.

    Twenty definitions that each name the next one twice unfold to a million nodes. A loop counts once.
    """
    try:
        return _Unfolding(schema).size(schema, 0) <= MAX_UNFOLDED
    except RecursionError:
        return False


def is_recursive(schema: Mapping[str, Any]) -> bool:
    """Whether a reasonable schema refers to itself."""
    unfolding = _Unfolding(schema)
    unfolding.size(schema, 0)
    return unfolding.loops


class _Unfolding:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._sizes: dict[str, int] = {}
        self._open: set[str] = {"#"}
        self.loops = False

    def size(self, node: Any, depth: int) -> int:
        if depth > MAX_DEPTH:
            raise RecursionError
        if isinstance(node, list):
            # Not of texts: an enum may have thousands.
            return sum(self.size(item, depth + 1) for item in node if not isinstance(item, str))
        if not isinstance(node, Mapping):
            return 0
        total = 1
        for key, value in node.items():
            if key in ("$ref", "$dynamicRef", "$recursiveRef") and isinstance(value, str):
                total += self._referenced(value, depth)
            elif key not in ("$defs", "definitions"):
                total += self.size(value, depth + 1)
        return total

    def _referenced(self, reference: str, depth: int) -> int:
        if reference in self._open:
            self.loops = True
            return 1
        if reference not in self._sizes:
            self._open.add(reference)
            self._sizes[reference] = self.size(follow(self._root, reference), depth + 1)
            self._open.discard(reference)
        return self._sizes[reference]


_BACKTRACKS = re.compile(r"\(\?(?:[=!>]|<[=!])|\\[1-9k]|[*+?}]\+")
"""Lookarounds, references to groups, and atomic groups: what the linear regex engine cannot do."""


def backtracking_patterns(node: Any) -> int:
    """The number of patterns in a reasonable schema that may take long to match."""
    if isinstance(node, list):
        return sum(backtracking_patterns(item) for item in node if not isinstance(item, str))
    if not isinstance(node, Mapping):
        return 0
    named = node.get("patternProperties")
    patterns = [node.get("pattern"), *(named if isinstance(named, Mapping) else ())]
    found = sum(isinstance(pattern, str) and _BACKTRACKS.search(pattern) is not None for pattern in patterns)
    return found + sum(map(backtracking_patterns, node.values()))


def has_longer_text(value: Any, most: int) -> bool:
    """Whether all texts and names of a value have more than so many characters; a value counts as one."""
    left, pending = most, [value]
    while pending and left >= 0:
        part = pending.pop()
        left -= len(part) if isinstance(part, str) else 1
        if isinstance(part, Mapping | list | tuple):
            left -= len(part)
            if left < 0:
                break
            pending += [*part, *part.values()] if isinstance(part, Mapping) else part
    return left < 0
