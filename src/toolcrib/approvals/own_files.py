"""Finds Toolcrib's own files in a shell command, also where a rule of the user allows the command.

A rule for `ln *` or `cp *` was not written for them: a copy or a hard link in the project could be read
without approval. The words are read roughly, so that this finds something, never nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from toolcrib.approvals.facts import Facts
from toolcrib.approvals.paths import at_home, lies_in
from toolcrib.serverkit.own_places import LENT, folded

MOST_WORDS = 2000
_LONGEST_PATH = 4096
_HOME = ("$HOME", "${HOME}")


def own_file_in(command: str, cwd: str, facts: Facts) -> str:
    """The first word that leads to a file of Toolcrib's own; empty if none does."""
    places = [folded(str(place)) for place in facts.protected]
    if not places or not (facts.project or cwd):
        return ""
    return next((word for word, path in _paths(command, cwd, facts) if _is_own(path, places, facts)), "")


def _is_own(path: str, places: Sequence[str], facts: Facts) -> bool:
    real = facts.disk.real(path) if facts.disk is not None else None
    routes = {folded(path), folded(real or path)}
    return any(
        lies_in(route, place) and not lies_in(route, f"{place}/{LENT}")
        for place in places
        for route in routes
    )


def _paths(command: str, cwd: str, facts: Facts) -> Iterator[tuple[str, str]]:
    """The words that may be paths, as absolute paths; relative ones from each folder that is entered."""
    from toolcrib.serverkit.shell import rough_commands

    folders, left = [os.path.normpath(os.path.join(facts.project, at_home(cwd)))], MOST_WORDS  # noqa: PTH118
    for name, *words in rough_commands(command):
        for word in words[: max(left, 0)]:
            for path in _readings(word, folders):
                yield word, path
        left -= len(words)
        if name in ("cd", "pushd") and words:
            folders += [path for path in _readings(words[-1], folders) if path not in folders][:1]
        folders = folders[-8:]


def _readings(word: str, folders: Sequence[str]) -> Iterator[str]:
    """Also of what follows an equals sign, as in `--target=PATH`, and of a file after `@`."""
    for text in {word, word.rpartition("=")[2], word.lstrip("@")}:
        if not 0 < len(text) <= _LONGEST_PATH or "\0" in text:
            continue
        variable = next((name for name in _HOME if text.startswith(name)), None)
        plain = at_home(f"~{text[len(variable) :]}" if variable else text)
        for folder in folders if not plain.startswith("/") else folders[:1]:
            yield os.path.normpath(os.path.join(folder, plain))  # noqa: PTH118
