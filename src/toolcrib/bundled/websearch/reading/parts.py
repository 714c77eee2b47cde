"""Cuts a long text into parts at blank lines; a code block that is cut is closed and opened again."""

from __future__ import annotations

import re
from collections.abc import Iterator

PART = 14_000
"""Characters: with its links a part stays below what hosts show to a model by default."""
_FENCE = re.compile(r"^\s{0,12}(`{3,}|~{3,})(.*)$")


def split(text: str, size: int = PART) -> list[str]:
    """The parts of a text; joined, they have all of its lines."""
    if len(text) <= size:
        return [text]
    parts: list[str] = []
    lines: list[str] = []
    length, opened, good = 0, "", 0
    for line in _short_lines(text, size // 2):
        if length + len(line) + 1 > size and lines:
            cut = good if good * 2 > len(lines) else len(lines)
            rest = lines[cut:]
            parts.append(_closed(lines[:cut], opened if cut == len(lines) else ""))
            lines = [opened, *rest] if opened and cut == len(lines) else rest
            length, good = sum(len(each) + 1 for each in lines), 0
        lines.append(line)
        length += len(line) + 1
        opened = _fence_after(line, opened)
        if not line.strip() and not opened:
            good = len(lines)
    return [part for part in (*parts, _closed(lines, "")) if part.strip()]


def _closed(lines: list[str], opened: str) -> str:
    fence = _FENCE.match(opened) if opened else None
    return "\n".join([*lines, fence.group(1)] if fence else lines).strip("\n")


def _fence_after(line: str, opened: str) -> str:
    """The line that opened the code block which is open after this line; empty if none is."""
    found = _FENCE.match(line)
    if found is None:
        return opened
    if not opened:
        return line
    fence = _FENCE.match(opened)
    ends = fence is not None and found.group(1).startswith(fence.group(1)) and not found.group(2).strip()
    return "" if ends else opened


def _short_lines(text: str, size: int) -> Iterator[str]:
    for line in text.split("\n"):
        while len(line) > size:
            # At the last space, so that no word is cut.
            cut = line.rfind(" ", size // 2, size) + 1 or size
            yield line[:cut].rstrip()
            line = line[cut:]
        yield line
