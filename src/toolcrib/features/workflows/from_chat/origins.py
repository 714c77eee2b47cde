"""Finds where a value of a call came from: a result of an earlier call, as a reference to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.features.workflows.from_chat.calls import ChatCall
from toolcrib.graph.references import Path, Reference

SHORTEST = 4
"""Characters of a value that can be recognised; shorter ones occur by chance."""
SHORTEST_PART = 8
"""Characters of a result inside of a longer text."""
_COMMON = frozenset(
    {"true", "false", "null", "none", "name", "text", "title", "type", "default", "utf-8", "main"}
)


@dataclass(frozen=True, kw_only=True)
class Origin:
    """A part of an earlier result."""

    call: int
    path: Path

    def reference(self, ids: Sequence[str]) -> str:
        return str(Reference(ids[self.call], self.path))

    def value(self, calls: Sequence[ChatCall]) -> Any:
        """The value at this place, also in another chat; None if it is missing."""
        call = calls[self.call]
        found: Any = {"text": call.text.strip(), "data": call.data}
        for part in self.path:
            found = _step(found, part)
        return found


def _step(value: Any, part: str | int) -> Any:
    if isinstance(value, Mapping):
        return value.get(part)
    is_index = isinstance(value, list) and isinstance(part, int) and part < len(value)
    return value[part] if is_index else None


def is_trivial(value: Any) -> bool:
    """Whether a value is too short or too common to say where it came from."""
    if value is None or isinstance(value, bool | dict | list):
        return True
    text = str(value).strip()
    return len(text) < SHORTEST or text.lower() in _COMMON


def find_origin(value: Any, calls: Sequence[ChatCall]) -> Origin | None:
    """The most specific place of exactly this value in the results, the latest result first."""
    if is_trivial(value):
        return None
    for number in range(len(calls) - 1, -1, -1):
        places = [path for path, leaf in calls[number].leaves if leaf == value and type(leaf) is type(value)]
        if places:
            return Origin(call=number, path=("data", *max(places, key=len)))
        if isinstance(value, str) and calls[number].text.strip() == value.strip():
            return Origin(call=number, path=("text",))
    return None


def find_parts(text: str, calls: Sequence[ChatCall]) -> list[tuple[str, Origin]]:
    """Results that occur inside of a text, the longest first and without overlaps."""
    found: list[tuple[str, Origin]] = []
    for number in range(len(calls) - 1, -1, -1):
        whole = calls[number].text.strip()
        candidates = [(whole, Origin(call=number, path=("text",)))]
        candidates += [
            (leaf, Origin(call=number, path=("data", *path)))
            for path, leaf in calls[number].leaves
            if isinstance(leaf, str)
        ]
        found += [
            candidate
            for candidate in candidates
            if len(candidate[0]) >= SHORTEST_PART and candidate[0] in text
        ]
    return _without_overlaps(text, sorted(found, key=lambda candidate: -len(candidate[0])))


def _without_overlaps(text: str, found: Sequence[tuple[str, Origin]]) -> list[tuple[str, Origin]]:
    kept: list[tuple[str, Origin]] = []
    for part, origin in found:
        if part in text:
            text = text.replace(part, "\0")
            kept.append((part, origin))
    return kept
