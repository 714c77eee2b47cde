"""The command that starts this installation, by absolute path: clients and services know no PATH of ours.
Tells whether the program stays where it is, unlike one that `uvx` runs."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

NAME = "toolcrib"
_PASSING = frozenset({"archive-v0", "environments-v2", "builds-v0"})
"""Folders of uv's cache in which `uvx` runs programs; they go away."""


def own_command() -> tuple[str, ...]:
    """Links are kept: that of an installer stays when the version behind it goes."""
    started = Path(sys.argv[0])
    if started.name == NAME and started.is_file():
        return (str(started.absolute()),)
    beside = Path(sys.executable).with_name(NAME)
    found = str(beside) if beside.is_file() else shutil.which(NAME)
    if found:
        return (str(Path(found).absolute()),)
    return sys.executable, "-m", NAME


def is_passing(program: str) -> bool:
    """True if the program will not stay where it is."""
    return not _PASSING.isdisjoint(Path(program).parts)
