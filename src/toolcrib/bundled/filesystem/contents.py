"""Text out of an open file, a bounded part at a time; says what a file is that holds no text (picture, PDF,
ZIP). Also lists folders. Limits: most bytes read at once, most entries of a folder."""

from __future__ import annotations

import heapq
import os
import stat
from datetime import UTC, datetime
from itertools import islice
from typing import Annotated, TypedDict

from toolcrib.serverkit.context import ToolFailure

MAX_READ = 1024 * 1024
_LONGEST_CHARACTER = 4

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x1f\x8b", "gzip-compressed data"),
    (b"\x7fELF", "a Linux program"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\xff\xfe", "text in UTF-16"),
    (b"\xfe\xff", "text in UTF-16"),
)


def read_text(path: str, file: int, offset: int, limit: int) -> list[str]:
    """The text, and a second string that says how to continue if there is more."""
    if offset < 0 or limit < 1:
        raise ToolFailure("offset must be 0 or more, and limit 1 or more.")
    limit = min(limit, MAX_READ)
    # A few bytes more than asked for: they show whether the last character is whole and whether more follows.
    data = _read(file, offset, limit + _LONGEST_CHARACTER)
    size = os.fstat(file).st_size
    if not data and offset > size:
        raise ToolFailure(f"{path!r} has {size} bytes, so there is nothing at offset {offset}.")
    start = _first_whole(data) if offset else 0
    end = _last_whole(data, limit)
    text = _decode(data[start:end])
    if text is None:
        head = data if offset == 0 else _read(file, 0, 64)
        raise ToolFailure(f"{path!r} is not UTF-8 text: it is {_guess(path, head)} of {size} bytes.")
    if len(data) <= end:
        return [text]
    onward = offset + end
    note = f"[Bytes {offset + start} to {onward} of {size}. Continue with offset={onward}.]"
    return [text, note]


def _read(file: int, offset: int, count: int) -> bytes:
    """Up to `count` bytes; goes by what can be read, because some files do not know their size."""
    parts: list[bytes] = []
    while count > 0:
        part = os.pread(file, count, offset)
        if not part:
            break
        parts.append(part)
        offset += len(part)
        count -= len(part)
    return b"".join(parts)


def _first_whole(data: bytes) -> int:
    """Where the first whole character begins, should the offset fall into the middle of one."""
    start = 0
    while start < min(len(data), _LONGEST_CHARACTER - 1) and data[start] & 0xC0 == 0x80:
        start += 1
    return start


def _last_whole(data: bytes, limit: int) -> int:
    """Where to cut so that no character is split; a limit shorter than one character still gets that one."""
    if len(data) <= limit:
        return len(data)
    end = limit
    while end > 0 and data[end] & 0xC0 == 0x80 and limit - end < _LONGEST_CHARACTER:
        end -= 1
    if end > 0:
        return end
    end = limit
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return end


def _decode(data: bytes) -> str | None:
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _guess(path: str, head: bytes) -> str:
    for signature, name in _SIGNATURES:
        if head.startswith(signature):
            return name
    import mimetypes

    kind, _ = mimetypes.guess_type(path)
    return f"data of type {kind}" if kind else "unknown data"


MAX_ENTRIES = 1000
MAX_LOOKED_AT = 100_000


class Entry(TypedDict):
    """One entry as it is, links not followed."""

    name: str
    kind: Annotated[str, "file, folder, link or special"]
    size: Annotated[int, "In bytes"]
    modified: Annotated[str, "ISO 8601, UTC"]


class FolderListing(TypedDict):
    """A folder's entries."""

    path: str
    entries: list[Entry]
    note: Annotated[str, "Says what was left out, if anything was"]


def list_entries(path: str, folder: int) -> FolderListing:
    """Read an open folder."""
    with os.scandir(folder) as entries:
        looked_at = [found for entry in islice(entries, MAX_LOOKED_AT + 1) if (found := _look(entry))]
    newest = heapq.nsmallest(
        MAX_ENTRIES, looked_at[:MAX_LOOKED_AT], key=lambda entry: (-entry[1].st_mtime_ns, entry[0])
    )
    return {"path": path, "entries": [_entry(*entry) for entry in newest], "note": _note(len(looked_at))}


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
