"""The verdict on a shell command: harmless, destructive, or for a person to judge.

Harmless means that every part was understood and is known to only read. Nothing else is ever called so.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from toolcrib.serverkit.shell.words import MAX_LENGTH, NotUnderstood, Word

_LONGEST = 128 * 1024
"""The kernel takes no longer argument, so that nothing longer can run."""
Kind = Literal["harmless", "destructive", "unknown"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What can be said of a command before it runs."""

    kind: Kind
    reason: str


def judge(command: str) -> Verdict:
    """Say what a command is; never raises and never runs anything."""
    if len(command) > _LONGEST:
        return Verdict("unknown", "It is too long for any shell.")
    return _judge(command) if len(command) <= MAX_LENGTH else _judge.__wrapped__(command)


@lru_cache(maxsize=256)
def _judge(command: str) -> Verdict:
    from toolcrib.serverkit.shell.destruction import destruction
    from toolcrib.serverkit.shell.reading import only_reads
    from toolcrib.serverkit.shell.script import read_script

    found = destruction(command)
    if found:
        return Verdict("destructive", f"This command is never run: {found}.")
    try:
        commands = read_script(command)
    except NotUnderstood as error:
        return Verdict("unknown", f"Not everything in it is known before it runs: {error.what}.")
    for one in commands:
        doubt = only_reads(one)
        if doubt:
            return Verdict("unknown", f"{doubt}.")
    return Verdict("harmless", "Every part of it only reads.")


def simple_commands(command: str) -> tuple[tuple[str, ...], ...] | None:
    """The exact words of each simple command that is not known to only read; None when not all are known.

    A rule for `npm run *` looks at these: one that stands beside another command does not let that one by.
    """
    from toolcrib.serverkit.shell.reading import only_reads
    from toolcrib.serverkit.shell.script import read_script

    try:
        commands = read_script(command)
    except NotUnderstood:
        return None
    found: list[tuple[str, ...]] = []
    for one in commands:
        if not only_reads(one):
            continue
        words: tuple[Word, ...] = one.words
        if not all(word.literal for word in words):
            return None
        found.append((one.name, *(word.text for word in words)))
    return tuple(found)


def rough_commands(command: str) -> tuple[tuple[str, ...], ...]:
    """Every command anywhere in the text, as its words would most likely come out, wrappers taken off.

    For rules that forbid: good enough to find something, never to find nothing.
    """
    from toolcrib.serverkit.shell.destruction import commands_within

    return tuple(commands_within(command[:_LONGEST]))
