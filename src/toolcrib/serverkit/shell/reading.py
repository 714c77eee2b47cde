"""Which simple commands only read: program and options are on the list, and the files are not private."""

from __future__ import annotations

from collections.abc import Callable

from toolcrib.serverkit.shell import git, scripts, searching
from toolcrib.serverkit.shell.commands import COMMANDS, VERSIONED
from toolcrib.serverkit.shell.options import Use, Uses, understand
from toolcrib.serverkit.shell.paths import Place, resolve
from toolcrib.serverkit.shell.script import Simple

_SPECIAL: dict[str, Callable[[Simple], Uses | None]] = {
    "[": scripts.test,
    "awk": scripts.awk,
    "command": scripts.where,
    "diff": searching.diff,
    "echo": scripts.echo,
    "egrep": searching.grep,
    "fgrep": searching.grep,
    "find": searching.find,
    "git": git.git,
    "grep": searching.grep,
    "jq": scripts.jq,
    "printf": scripts.printf,
    "rg": searching.rg,
    "sed": scripts.sed,
    "test": scripts.test,
    "type": scripts.named,
    "xargs": searching.xargs,
}


def only_reads(command: Simple) -> str:
    """Empty when it is known to only read; else what is not known."""
    if asks_version(command):
        return ""
    uses = uses_of(command)
    if uses is None:
        known = command.name in COMMANDS or command.name in _SPECIAL
        return f"{command.text if known else command.name} is not known to only read"
    for use in uses:
        if any(_is_private(use, folder) for folder in command.folders):
            return f"{use.word.text} may be a place where secrets are kept"
    return ""


def uses_of(command: Simple) -> Uses | None:
    """The files that a command looks at; None when it is not known to only read."""
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
    return words == ["--version"] or (command.name == "git" and words == ["version"])


def _is_private(use: Use, folder: Place) -> bool:
    """A program that only tells about files may be given a pattern; names are no secret."""
    if use.kind == "text" or (use.kind == "name" and use.word.glob) or use.word.text == "-":
        return False
    place = resolve(use.word, folder)
    return place is None or (place.tree_secret if use.kind == "search" else place.secret)
