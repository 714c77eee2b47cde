"""Recognises Toolcrib's own files where a bind mount shows them under another path.

Only the file system knows that both are the same, so this compares device and inode numbers. It is needed
only for folders that contain mount points.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from toolcrib.serverkit.own_places import FOLDERS, own_identities, own_places

_MOUNTS = Path("/proc/self/mountinfo")
_MOUNT_POINT = 4
_ESCAPED = re.compile(r"\\([0-7]{3})")


def contains_mounts(folder: Path) -> bool:
    """Whether something is mounted below this folder, looked up once a second; a model cannot change that."""
    return _contains_mounts(folder, int(time.monotonic()))


@lru_cache(maxsize=64)
def _contains_mounts(folder: Path, _second: int) -> bool:
    try:
        lines = _MOUNTS.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return False
    points = (_plain(line.split(" ")[_MOUNT_POINT]) for line in lines)
    return any(folder in Path(point).parents for point in points)


def shows_own(root: Path, names: Sequence[str]) -> bool:
    """Whether the path, or a folder on its way below the root, is one of our own."""
    folders, files = set(_own_folders()), set(own_identities())
    path = root
    for name in names:
        path = path / name
        found = _identity(path)
        if found in folders or (found in files and not path.is_dir()):
            return True
    return False


def _own_folders() -> Iterator[tuple[int, int]]:
    for place in own_places():
        for folder in (place, *(place / name for name in FOLDERS)):
            found = _identity(folder)
            if found is not None:
                yield found


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _plain(point: str) -> str:
    """Mount points are written with `\\040` for a space."""
    return _ESCAPED.sub(lambda match: chr(int(match.group(1), 8)), point)
