"""Lists the files of a watched folder and their versions; nothing is opened, and links are not followed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from toolcrib.errors import ConfigError

MOST_FILES = 100_000
INCOMPLETE = (".part", ".partial", ".crdownload", ".download", ".tmp", ".swp", "~")
"""Endings by which programs mark files that they are still writing."""


@dataclass(frozen=True, slots=True)
class WatchedFile:
    path: str
    size: int
    modified: int
    """Nanoseconds since 1970."""

    @property
    def id(self) -> str:
        """The same for the same content of the same file, as far as its folder shows."""
        text = f"{self.path}\0{self.size}\0{self.modified}"
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:24]


def scan(folder: str, pattern: str, *, recursive: bool) -> dict[str, WatchedFile]:
    """The matching files by path. Raises `ConfigError` if the folder cannot be listed or is too large."""
    found: dict[str, WatchedFile] = {}
    for count, entry in enumerate(_entries(folder, recursive=recursive), 1):
        if count > MOST_FILES:
            raise ConfigError(
                f"The folder {folder} has more than {MOST_FILES:,} files.",
                hint="Watch a smaller folder, or move files away once they are processed.",
            )
        version = _version(entry, folder, pattern)
        if version is not None:
            found[version.path] = version
    return found


def _entries(folder: str, *, recursive: bool) -> Iterator[os.DirEntry[str]]:
    left = [folder]
    while left:
        place = left.pop()
        try:
            with os.scandir(place) as inside:
                for entry in inside:
                    if entry.is_dir(follow_symlinks=False):
                        if recursive and not entry.name.startswith("."):
                            left.append(entry.path)
                    else:
                        yield entry
        except OSError as error:
            if place == folder:
                raise ConfigError(
                    f"The folder {folder} cannot be read: {error.strerror}.",
                    hint="Create it, or correct the path and the permissions.",
                ) from error


def _version(entry: os.DirEntry[str], folder: str, pattern: str) -> WatchedFile | None:
    if not _is_wanted(entry, folder, pattern):
        return None
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:  # it was removed meanwhile
        return None
    return WatchedFile(entry.path, status.st_size, status.st_mtime_ns)


def _is_wanted(entry: os.DirEntry[str], folder: str, pattern: str) -> bool:
    name = entry.name
    if not entry.is_file(follow_symlinks=False):
        return False
    if name.startswith(".") and not pattern.startswith("."):
        return False
    if name.endswith(INCOMPLETE) and not pattern.endswith(INCOMPLETE):
        return False
    return fnmatch(name, pattern) or fnmatch(str(Path(entry.path).relative_to(folder)), pattern)
