"""The files that a pattern of a shell stands for, within limits: a folder may hold any number of entries."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import translate
from glob import has_magic

MOST_ENTRIES = 5000
"""Entries of folders that are looked at for one pattern."""
_ESCAPED = re.compile(r"\[([*?[])\]")


class _TooMany(Exception):
    pass


def matching(pattern: str) -> list[str] | None:
    """The paths that an absolute pattern stands for; None if too many entries would have to be looked at.

    A part without wildcards is taken as it is, whether it exists or not.
    """
    left = [MOST_ENTRIES]
    try:
        return list(_below("", pattern.split("/")[1:], left))
    except _TooMany:
        return None


def _below(folder: str, parts: Sequence[str], left: list[int]) -> Iterator[str]:
    if not parts:
        yield folder or "/"
        return
    for name in _names(folder, parts[0], left):
        yield from _below(f"{folder}/{name}", parts[1:], left)


def _names(folder: str, part: str, left: list[int]) -> Iterator[str]:
    plain = _ESCAPED.sub(r"\1", part)
    if not has_magic(_ESCAPED.sub("", part)):
        yield plain
        return
    wanted, hidden = re.compile(translate(part)), part.startswith(".")
    for name in _entries(folder or "/", left):
        if (hidden or not name.startswith(".")) and wanted.match(name):
            yield name


def _entries(folder: str, left: list[int]) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                left[0] -= 1
                if left[0] < 0:
                    raise _TooMany
                yield entry.name
    except OSError:
        return
