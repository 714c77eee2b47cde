"""The parts of a backup: what each is called in the archive, and where it belongs in a home.

A name that fits no part is refused, so a path in an archive never decides where something is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from toolcrib.config.paths import Paths

MIB = 1024 * 1024
GIB = 1024 * MIB
_WORD = r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}"


@dataclass(frozen=True, kw_only=True)
class Part:
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

    def files(self, paths: Paths) -> Iterator[tuple[str, Path]]:
        """The files of a home that belong to this part, with their names in the archive."""
        target = self.target(paths)
        found = sorted(target.rglob("*")) if self.folder else [target]
        for file in found:
            name = f"{self.key}/{file.relative_to(target).as_posix()}" if self.folder else self.key
            if self.names.fullmatch(name) and file.is_file() and not file.is_symlink():
                yield name, file


def _one(
    key: str, title: str, target: Callable[[Paths], Path], largest: int, *, database: bool = False
) -> Part:
    names = re.compile(re.escape(key))
    return Part(key=key, title=title, names=names, largest=largest, target=target, database=database)


def _many(key: str, title: str, pattern: str, target: Callable[[Paths], Path], largest: int) -> Part:
    names = re.compile(rf"{key}/(?:{pattern})")
    return Part(key=key, title=title, names=names, largest=largest, target=target, folder=True)


DATABASE = _one("toolcrib.db", "database", lambda paths: paths.database, 1024 * GIB, database=True)
RUNS = _one(
    "runs.sqlite", "workflow runs", lambda paths: paths.runs / "runs.sqlite", 1024 * GIB, database=True
)
CONFIG = _one("mcp.json", "config file", lambda paths: paths.config_file.resolve(), 8 * MIB)
ARTIFACTS = _many(
    "artifacts",
    "files of runs",
    rf"{_WORD}/{_WORD}(?:\.[a-z]{{3,4}})?",
    lambda p: p.runs / "artifacts",
    64 * MIB,
)
PARTS = (
    DATABASE,
    CONFIG,
    _one("accounts.json", "accounts", lambda paths: paths.accounts_file, 8 * MIB),
    _one("server-notes.json", "notes on servers", lambda paths: paths.state / "server-notes.json", 8 * MIB),
    _many(
        "workflows",
        "workflows",
        rf"{_WORD}\.json|\.versions/{_WORD}/[0-9A-Za-z.-]{{1,99}}\.json",
        lambda paths: paths.workflows,
        8 * MIB,
    ),
    _many("macros", "desktop macros", rf"{_WORD}\.json", lambda paths: paths.desktop / "macros", MIB),
    RUNS,
    ARTIFACTS,
)


def part_of(name: str) -> Part | None:
    """The part that a file of an archive belongs to."""
    return next((part for part in PARTS if part.names.fullmatch(name)), None)
