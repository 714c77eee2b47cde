"""The parts of a backup, with those of installed features.

A name that fits no part is refused, so a path in an archive never decides where something is written.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from toolcrib.config.backup_parts import GIB, MIB, WORD, Part, many_files, one_file
from toolcrib.feature import features

DATABASE = one_file("toolcrib.db", "database", lambda paths: paths.database, 1024 * GIB, database=True)
CONFIG = one_file("mcp.json", "config file", lambda paths: paths.config_file.resolve(), 8 * MIB)
_OWN = (
    DATABASE,
    CONFIG,
    one_file("accounts.json", "accounts", lambda paths: paths.accounts_file, 8 * MIB),
    one_file(
        "server-notes.json", "notes on servers", lambda paths: paths.state / "server-notes.json", 8 * MIB
    ),
    many_files("macros", "desktop macros", rf"{WORD}\.json", lambda paths: paths.desktop / "macros", MIB),
)


@cache
def feature_backups() -> tuple[Any, ...]:
    """The modules of installed features that say what is saved of them."""
    return tuple(feature.module(feature.backup) for feature in features() if feature.backup)


@cache
def parts() -> tuple[Part, ...]:
    return (*_OWN, *(part for saved in feature_backups() for part in saved.PARTS))


def part_of(name: str) -> Part | None:
    """The part that a file of an archive belongs to."""
    return next((part for part in parts() if part.names.fullmatch(name)), None)
