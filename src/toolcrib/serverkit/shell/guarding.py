"""What must be in place when a command runs that was not asked about, and what a user's rule must cover.

Some programs only read because the terminal runs them with a guard: git without the programs that a
repository names, searches without private files. A guard is for a program as a whole, so that it is only
there when every use of the program in a command is one that only reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolcrib.serverkit.shell.paths import Place, place_of
from toolcrib.serverkit.shell.reading import asks_version, only_reads
from toolcrib.serverkit.shell.script import Simple, read_script
from toolcrib.serverkit.shell.words import NotUnderstood


@dataclass(frozen=True, slots=True)
class Guards:
    """What a command does only to read."""

    programs: frozenset[str] = frozenset()
    """The programs that it uses for nothing else."""
    versions: frozenset[str] = frozenset()
    """Those of them that it only asks for their version."""
    patterns: bool = False
    """Its patterns are for reading."""


def guards_for(command: str, cwd: str = "", project: str = "") -> Guards:
    """The guards that a command needs; none when it is not understood, and so was asked about."""
    folders = {place_of(cwd, project), place_of(cwd)}  # whoever decided may not have known the project
    found = [_guards(command, folder) for folder in folders if folder is not None]
    return Guards(
        frozenset[str]().union(*(one.programs for one in found)),
        frozenset[str]().union(*(one.versions for one in found)),
        patterns=any(one.patterns for one in found),
    )


def _guards(command: str, folder: Place) -> Guards:
    try:
        commands = read_script(command, folder)
    except NotUnderstood:
        return Guards()
    other = [one for one in commands if only_reads(one)]
    programs = frozenset(one.name for one in commands) - {one.name for one in other}
    versions = programs - {one.name for one in commands if not asks_version(one)}
    return Guards(programs, versions, patterns=not any(word.glob for one in other for word in one.words))


def needs_rule(commands: Sequence[Simple]) -> list[Simple]:
    """The commands that do not run unasked: those that do more than read, and those that lose their guard."""
    names = {one.name for one in commands if only_reads(one)}
    return [one for one in commands if one.name in names]
