"""The verdict on a shell command: harmless, destructive, or for the user to decide.

Harmless means that every part was understood and is known to only read. Nothing else is ever called so.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from toolcrib.serverkit.shell.words import MAX_LENGTH, NotUnderstood

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolcrib.serverkit.shell.script import Simple

_LONGEST = 128 * 1024
"""The kernel takes no longer argument, so that nothing longer can run."""
Kind = Literal["harmless", "destructive", "unknown"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What can be said of a command before it runs."""

    kind: Kind
    reason: str
    names: tuple[str, ...] = ()
    """Files and folders that it only tells about."""
    paths: tuple[str, ...] = ()
    """Files that a harmless one shows: absolute, from the home folder (`~/…`), or from the
    project (`./…`). With `..` as it is written, and with wildcards as for `glob`."""
    trees: tuple[str, ...] = ()
    """Folders that it searches through."""


def judge(command: str, cwd: str = "", project: str = "") -> Verdict:
    """Say what a command is; never raises and never runs anything.

    It runs in `cwd`, which is relative to the project or absolute, and by default the project. `project` is
    the absolute path of that, if it is known.
    """
    if len(command) > _LONGEST:
        return Verdict("unknown", "It is too long for any shell.")
    known = _judge if len(command) <= MAX_LENGTH else _judge.__wrapped__
    return known(command, cwd, project)


@lru_cache(maxsize=256)
def _judge(command: str, cwd: str, project: str) -> Verdict:
    from toolcrib.serverkit.shell.destruction import destruction
    from toolcrib.serverkit.shell.readers import only_reads

    found = destruction(command)
    if found:
        return Verdict("destructive", f"This command is refused: {found}.")
    try:
        commands = _commands(command, cwd, project)
    except NotUnderstood as error:
        return Verdict("unknown", f"It cannot be fully checked before it runs: {error.what}.")
    for one in commands:
        doubt = only_reads(one)
        if doubt:
            return Verdict("unknown", f"{doubt}.")
    names, paths, trees = (_routes(commands, kind) for kind in ("name", "content", "search"))
    return Verdict("harmless", "Every part of it only reads.", names, paths, trees)


def _commands(command: str, cwd: str, project: str) -> tuple[Simple, ...]:
    from toolcrib.serverkit.shell.paths import place_of
    from toolcrib.serverkit.shell.script import read_script

    folder = place_of(cwd, project)
    if folder is None or folder.secret:
        raise NotUnderstood(f"the folder {cwd}")
    return read_script(command, folder)


def _routes(commands: Sequence[Simple], kind: str) -> tuple[str, ...]:
    from toolcrib.serverkit.shell.paths import route
    from toolcrib.serverkit.shell.readers import uses_of

    routes = (
        route(use.word, folder)
        for command in commands
        for use in uses_of(command) or ()
        if use.kind == kind and not (kind == "name" and use.word.glob)
        for folder in command.folders
    )
    return tuple(filter(None, dict.fromkeys(routes)))


def simple_commands(command: str, cwd: str = "", project: str = "") -> tuple[tuple[str, ...], ...] | None:
    """The exact words of each simple command that is not harmless by itself; None when not all are known.

    A rule for `npm run *` must match each of these. A command whose input is chosen by another command, or
    that runs outside of the project, is not what the rule was written for.
    """
    from toolcrib.serverkit.shell.readers import needs_rule

    try:
        commands = _commands(command, cwd, project)
    except NotUnderstood:
        return None
    wanted = needs_rule(commands)
    if any(simple.fed or not all(word.literal for word in simple.words) for simple in wanted):
        return None
    if any(folder.anchor != "." for simple in wanted for folder in simple.folders):
        return None
    return tuple((simple.name, *(word.text for word in simple.words)) for simple in wanted)


def rough_commands(command: str) -> tuple[tuple[str, ...], ...]:
    """Every command anywhere in the text, as its words would most likely come out, wrappers taken off.

    For rules that forbid: good enough to find something, never to find nothing.
    """
    from toolcrib.serverkit.shell.destruction import commands_within

    return tuple(commands_within(command[:_LONGEST]))
