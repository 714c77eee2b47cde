"""Replaces a file as a whole: whoever reads it finds the old content or the new, also after a crash.

The new content is on the disk before the name points to it; when anything fails, the old file is untouched
and nothing is left behind.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from uuid import uuid4


def write_atomic(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Write `content` to `path` with exactly this mode, whatever the umask; raises `OSError`."""
    temporary = path.with_name(f".{path.name}.{uuid4().hex[:12]}.tmp")
    try:
        _write_through(temporary, content, mode)
        temporary.replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise
    _sync_folder(path.parent)


def _write_through(path: Path, content: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
        if sys.platform != "win32":
            os.fchmod(descriptor, mode)
        file.write(content)
        file.flush()
        os.fsync(descriptor)


def _sync_folder(folder: Path) -> None:
    """Make the renaming itself durable; Windows knows no such thing."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
