"""Which commands only read, and which of them need a guard when they run.

A command only reads if its program and options are on the list and its files are not private. Some programs
only read because the terminal runs them with a guard: git without the programs that a repository names,
searches without private files. A guard applies to a program as a whole, so it is used only if every use of
the program in a command only reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from toolcrib.serverkit.shell import git, scripts, searches
from toolcrib.serverkit.shell.commands import COMMANDS, VERSIONED
from toolcrib.serverkit.shell.options import Use, Uses, understand
from toolcrib.serverkit.shell.paths import ShellPath, place_of, resolve
from toolcrib.serverkit.shell.script import Simple, read_script
from toolcrib.serverkit.shell.words import NotUnderstood

_SPECIAL: dict[str, Callable[[Simple], Uses | None]] = {
    "[": scripts.test,
    "awk": scripts.awk,
    "command": scripts.where,
    "diff": searches.diff,
    "echo": scripts.echo,
    "egrep": searches.grep,
    "fgrep": searches.grep,
    "find": searches.find,
    "git": git.git,
    "grep": searches.grep,
    "jq": scripts.jq,
    "printf": scripts.printf,
    "rg": searches.rg,
    "sed": scripts.sed,
    "test": scripts.test,
    "type": scripts.named,
    "xargs": searches.xargs,
}


def only_reads(command: Simple) -> str:
    """Empty when it is known to only read; else what is not known."""
    if asks_version(command):
        return ""
    uses = uses_of(command)
    if uses is None:
        known = command.name in COMMANDS or command.name in _SPECIAL
        return f"{command.text if known else command.name} may change something"
    for use in uses:
        if any(_is_private(use, folder) for folder in command.folders):
            return f"{use.word.text} may contain secrets"
    return ""


def uses_of(command: Simple) -> Uses | None:
    """The files that a command looks at; None if it may change something."""
    special = _SPECIAL.get(command.name)
    if special is not None:
        return special(command)
    syntax = COMMANDS.get(command.name)
    return None if syntax is None else understand(command, syntax)


def asks_version(command: Simple) -> bool:
    """Whether it only asks a program for its version."""
    words = [word.text for word in command.words]
    if command.name not in VERSIONED:
        return False
    if words == ["-V"]:
        return command.name in ("python", "python3")
    if words == ["-v"]:
        return command.name == "node"
    return words == ["--version"] or (command.name == "git" and words == ["version"])


def _is_private(use: Use, folder: ShellPath) -> bool:
    """A program that only tells about files may be given a pattern; names are no secret."""
    if use.kind == "text" or (use.kind == "name" and use.word.glob) or use.word.text == "-":
        return False
    place = resolve(use.word, folder)
    if place is None:
        return True
    if use.kind == "search":
        return place.tree_secret
    return place.content_secret if use.kind == "content" else place.secret


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
    folders = {place_of(cwd, project), place_of(cwd)}  # the decision may have been made without the project
    found = [_guards(command, folder) for folder in folders if folder is not None]
    return Guards(
        frozenset[str]().union(*(guards.programs for guards in found)),
        frozenset[str]().union(*(guards.versions for guards in found)),
        patterns=any(guards.patterns for guards in found),
    )


def _guards(command: str, folder: ShellPath) -> Guards:
    try:
        commands = read_script(command, folder)
    except NotUnderstood:
        return Guards()
    other = [simple for simple in commands if only_reads(simple)]
    programs = frozenset(simple.name for simple in commands) - {simple.name for simple in other}
    versions = programs - {simple.name for simple in commands if not asks_version(simple)}
    return Guards(
        programs, versions, patterns=not any(word.glob for simple in other for word in simple.words)
    )


def needs_rule(commands: Sequence[Simple]) -> list[Simple]:
    """The commands that do not run unasked: those that do more than read, and those that lose their guard."""
    names = {command.name for command in commands if only_reads(command)}
    return [command for command in commands if command.name in names]
