"""The entries of a folder, the newest change first; bounded, however large the folder is."""

from __future__ import annotations

import heapq
import os
import stat
from datetime import UTC, datetime
from itertools import islice
from typing import Annotated, TypedDict

MAX_ENTRIES = 1000
MAX_LOOKED_AT = 100_000


class Entry(TypedDict):
    """One entry as it is, links not followed."""

    name: str
    kind: Annotated[str, "file, folder, link or special"]
    size: Annotated[int, "In bytes"]
    modified: Annotated[str, "ISO 8601, UTC"]


class Listing(TypedDict):
    """A folder's entries."""

    path: str
    entries: list[Entry]
    note: Annotated[str, "Says what was left out, if anything was"]


def list_entries(path: str, folder: int) -> Listing:
    """Read an open folder."""
    with os.scandir(folder) as entries:
        looked_at = [found for entry in islice(entries, MAX_LOOKED_AT + 1) if (found := _look(entry))]
    newest = heapq.nsmallest(
        MAX_ENTRIES, looked_at[:MAX_LOOKED_AT], key=lambda each: (-each[1].st_mtime_ns, each[0])
    )
    return {"path": path, "entries": [_entry(*each) for each in newest], "note": _note(len(looked_at))}


def _look(entry: os.DirEntry[str]) -> tuple[str, os.stat_result] | None:
    try:
        return entry.name, entry.stat(follow_symlinks=False)
    except FileNotFoundError:  # gone since
        return None


def _entry(name: str, found: os.stat_result) -> Entry:
    # Some names are no UTF-8; they are shown with escapes and cannot be opened from here.
    shown = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    modified = datetime.fromtimestamp(found.st_mtime, UTC).isoformat(timespec="milliseconds")
    return {"name": shown, "kind": _kind(found.st_mode), "size": found.st_size, "modified": modified}


def _kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "special"


def _note(count: int) -> str:
    if count > MAX_LOOKED_AT:
        return f"The newest {MAX_ENTRIES} of the first {MAX_LOOKED_AT} entries; the folder holds more."
    if count > MAX_ENTRIES:
        return f"The newest {MAX_ENTRIES} of {count} entries."
    return ""
