"""Whether a file is also a private file under another name: a hard link, which no path shows.

Only files with several names are looked at. Their other names are searched for in the project and among the
private files of the home folder, up to a limit. Package managers link the files of their stores into projects
by the thousand; those folders are left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from toolcrib.serverkit.own_places import is_linked
from toolcrib.serverkit.secret_places import is_secret_path

MOST_ENTRIES = 20_000
_STORES = frozenset({"node_modules", ".venv", "venv", "site-packages", ".pnpm-store", "target", "objects"})


def any_private_link(paths: Iterable[str], project: str) -> bool:
    """Whether one of these files has a private name too, or that would take too long to find out."""
    inodes = {inode for path in paths if (inode := _linked_inode(path)) is not None}
    if not inodes:
        return False
    at_home, left = _private_at_home(), MOST_ENTRIES
    for entry in chain(at_home, _entries([project, *(entry.path for entry in at_home)])):
        left -= 1
        if left < 0 or (entry.inode() in inodes and is_secret_path(entry.path, below=_depth(project, entry))):
            return True
    return False


def has_linked_private(folder: str) -> bool:
    """Whether a private file directly in this folder has further names, which a search could come across."""
    return any(
        is_secret_path(entry.path, below=_depth(folder, entry)) and _linked_inode(entry.path) is not None
        for entry in _listed(folder)[:MOST_ENTRIES]
    )


def _depth(folder: str, entry: os.DirEntry[str]) -> int:
    """How many parts of the entry's path are the folder that the user works in."""
    inside = entry.path.startswith(f"{folder.rstrip('/')}/")
    return len(Path(folder).parts) - 1 if inside else 0


def _linked_inode(path: str) -> int | None:
    if not _STORES.isdisjoint(path.split("/")):
        return None
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    return status.st_ino if is_linked(status) else None


def _private_at_home() -> list[os.DirEntry[str]]:
    home = str(Path.home())
    return [entry for entry in _listed(home) if is_secret_path(entry.path, below=_depth(home, entry))]


def _entries(roots: Iterable[str]) -> Iterator[os.DirEntry[str]]:
    left = list(roots)
    while left:
        for entry in _listed(left.pop()):
            yield entry
            if entry.name not in _STORES and entry.is_dir(follow_symlinks=False):
                left.append(entry.path)


def _listed(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
