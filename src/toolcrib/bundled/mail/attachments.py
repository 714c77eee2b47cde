"""Takes files to attach from the allowed folder, and saves received attachments there under safe names, never
over an existing file. Has the error for files that are too large; the default limit is in `__init__.py`."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from toolcrib.bundled.mail.writing import AttachedFile
from toolcrib.serverkit.confined import Roots
from toolcrib.serverkit.confined.new_files import new_file
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.threads import in_thread

MEGABYTE = 1_000_000


class SavedFile(NamedTuple):
    path: str
    size: int


class ListedFile(NamedTuple):
    name: str
    size: int
    changed: int
    """When the file was changed last, which no program can set."""


async def save(roots: Roots, name: str, content: AsyncIterator[bytes], limit: int) -> SavedFile:
    """Write a new file, never replacing one; nothing is left of it if it grows beyond the limit or fails."""
    with new_file(roots, name) as (place, file):
        size = 0
        try:
            async for piece in content:
                size += len(piece)
                if size > limit:
                    raise _too_large(name, limit)
                await in_thread(_write, file, piece)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(place.name, dir_fd=place.folder)
            raise
        return SavedFile(str(place.path), size)


def take(roots: Roots, paths: Sequence[str], limit: int) -> list[AttachedFile]:
    """Read files to attach; together they must not exceed the limit."""
    files: list[AttachedFile] = []
    left = limit
    for path in paths:
        with _reading(roots, path) as descriptor:
            about = os.fstat(descriptor)
            if about.st_size > left:
                raise _too_large(path, limit)
            with os.fdopen(os.dup(descriptor), "rb") as file:
                data = file.read(left + 1)
        if len(data) > left:
            raise _too_large(path, limit)
        left -= len(data)
        files.append(AttachedFile(path.rstrip("/").rpartition("/")[2], data, about.st_ctime_ns))
    return files


def listed(roots: Roots, paths: Sequence[str]) -> list[ListedFile]:
    """Names and sizes, without reading."""
    found = []
    for path in paths:
        with _reading(roots, path) as descriptor:
            about = os.fstat(descriptor)
            found.append(ListedFile(path.rstrip("/").rpartition("/")[2], about.st_size, about.st_ctime_ns))
    return found


@contextmanager
def _reading(roots: Roots, path: str) -> Iterator[int]:
    with roots.explained(path), roots.reading(path) as descriptor:
        yield descriptor


def _write(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        written = os.write(file, rest)
        if not written:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rest = rest[written:]


def _too_large(name: str, limit: int) -> ToolFailure:
    return ToolFailure(
        f"{name[:100]!r} exceeds the limit of {limit // MEGABYTE} MB for attachments.",
        "The user can raise it with --max-attachment MB in the server's arguments.",
    )
