"""Replaces a file as a whole: whoever reads it finds the old content or the new, also after a crash.

The new content is on the disk before the name points to it; when anything fails, the old file is untouched
and nothing is left behind.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from uuid import uuid4


def write_atomic(path: Path, content: bytes) -> None:
    """Write `content` to `path`, for this user alone (0600), whatever the umask; raises `OSError`."""
    temporary = path.with_name(f".{path.name}.{uuid4().hex[:12]}.tmp")
    try:
        _write_through(temporary, content)
        temporary.replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise
    _sync_folder(path.parent)


def _write_through(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
        file.write(content)
        file.flush()
        os.fsync(descriptor)


def _sync_folder(folder: Path) -> None:
    """Make the renaming itself durable; it is done by now, so a file system that cannot is no failure."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
