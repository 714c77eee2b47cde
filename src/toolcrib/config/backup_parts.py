"""A part of a backup: what it is called in the archive, and where it belongs in a home.

A feature declares its own parts in the module that `Feature.backup` names.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolcrib.config.paths import Paths

MIB = 1024 * 1024
GIB = 1024 * MIB
WORD = r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}"


@dataclass(frozen=True, kw_only=True)
class BackupPart:
    """A file, or a folder of files."""

    key: str
    title: str
    names: re.Pattern[str]
    """The names of its files in the archive."""
    largest: int
    """Bytes of one file."""
    target: Callable[[Paths], Path]
    database: bool = False
    """Copied by SQLite; has two more files beside it while it is in use."""
    folder: bool = False
    optional: bool = False
    """Left out unless the user wants the files of runs."""
    shared_as: str = ""
    """Left out, as this, if the home has a shared database."""
    problem: Callable[[sqlite3.Connection], str] | None = None
    """Of a database: why it is refused, in a sentence; empty if it is not."""

    def files(self, paths: Paths) -> Iterator[tuple[str, Path]]:
        """The files of a home that belong to this part, with their names in the archive."""
        target = self.target(paths)
        found = sorted(target.rglob("*")) if self.folder else [target]
        for file in found:
            name = f"{self.key}/{file.relative_to(target).as_posix()}" if self.folder else self.key
            if self.names.fullmatch(name) and file.is_file() and not file.is_symlink():
                yield name, file


def one_file(
    key: str, title: str, target: Callable[[Paths], Path], largest: int, **details: Any
) -> BackupPart:
    names = re.compile(re.escape(key))
    return BackupPart(key=key, title=title, names=names, largest=largest, target=target, **details)


def many_files(
    key: str, title: str, pattern: str, target: Callable[[Paths], Path], largest: int, **details: Any
) -> BackupPart:
    names = re.compile(rf"{key}/(?:{pattern})")
    return BackupPart(
        key=key, title=title, names=names, largest=largest, target=target, folder=True, **details
    )
