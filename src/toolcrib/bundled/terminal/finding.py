"""Finds files by glob, bounded in how much is looked at and how many are told."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path

MOST_FOUND = 500
MOST_LOOKED_AT = 200_000
SECONDS = 10.0
SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache"})


def find(pattern: str, folder: Path, is_closed: Callable[[Path], bool]) -> str:
    """The paths, relative to the folder, and a note on what was left out; closed folders are not entered."""
    found: list[str] = []
    until = time.monotonic() + SECONDS
    for looked_at, relative in enumerate(_walk(folder, is_closed), start=1):
        if _fits(relative, pattern):
            found.append(relative)
        if len(found) >= MOST_FOUND:
            return _told(found, f"[The first {MOST_FOUND}; there are more.]")
        if looked_at >= MOST_LOOKED_AT or time.monotonic() > until:
            return _told(found, f"[Stopped after {looked_at} files.]")
    return _told(found, "")


def _walk(folder: Path, is_closed: Callable[[Path], bool]) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        open_ones = (name for name in folders if name not in SKIPPED and not is_closed(Path(place, name)))
        folders[:] = sorted(open_ones)
        inside = os.path.relpath(place, folder)
        prefix = "" if inside == "." else f"{inside}/"
        yield from (f"{prefix}{name}" for name in sorted(files))


def _fits(relative: str, pattern: str) -> bool:
    if "/" not in pattern:
        return fnmatch(relative.rpartition("/")[2], pattern)
    return fnmatch(relative, pattern) or fnmatch(relative, pattern.replace("**/", ""))


def _told(found: list[str], note: str) -> str:
    return "\n".join([*found, *filter(None, [note])]) or "No file fits."
