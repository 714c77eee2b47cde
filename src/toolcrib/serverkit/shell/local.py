"""Which commands stay on this machine: every program in them is known to use no network.

Builds and tests count as local although they run the project's code: the user who lets them run knows that
code. Not known is any program that fetches packages, runs other code, or is git where it talks to others.
"""

from __future__ import annotations

import re

from toolcrib.serverkit.shell.options import Use
from toolcrib.serverkit.shell.paths import Place, resolve
from toolcrib.serverkit.shell.reading import asks_version, uses_of
from toolcrib.serverkit.shell.script import Simple, read_script
from toolcrib.serverkit.shell.words import NotUnderstood, listed

_FILES = listed("chmod chown cp kill ln mkdir mktemp mv rm rmdir tee touch truncate")
"""Programs that change files or processes here, whatever their options."""
_BUILDS = listed("""
    black cc clang cmake ctest eslint flake8 g++ gcc gofmt isort jest ld make mypy ninja patch prettier pylint
    pyright pytest ruff rustc rustfmt shellcheck tsc vitest
    """)
_PARTS = {
    "cargo": listed("build check clippy doc fmt test"),
    "git": listed("""
        add am apply branch checkout cherry-pick clean commit init merge mv rebase reset restore revert rm
        stash switch tag worktree
        """),
    "go": listed("build fmt test vet"),
    "npm": listed("run run-script t test"),
    "pnpm": listed("run test"),
    "yarn": listed("run test"),
}
"""Commands of programs that reach the network with others of theirs."""
_SUBSTITUTION = re.compile(
    r"s(?P<border>[/|#,:])(?:(?!(?P=border)).)*(?P=border)(?:(?!(?P=border)).)*(?P=border)[gI0-9]*"
)


def stays_local(command: str) -> bool:
    """Whether nothing that a command prints can come from the network."""
    try:
        commands = read_script(command, writes=True)
    except NotUnderstood:
        return False
    return all(map(_is_local, commands))


def _is_local(command: Simple) -> bool:
    first = command.words[0].text if command.words else ""
    if asks_version(command) or command.name in _FILES or command.name in _BUILDS:
        return True
    if first in _PARTS.get(command.name, ()) or _edits_in_place(command):
        return True
    uses = uses_of(command)
    return uses is not None and not any(
        _is_connection(use, folder) for use in uses for folder in command.folders
    )


def _edits_in_place(command: Simple) -> bool:
    """`sed -i` with one substitution, whose flags run nothing."""
    words = [word.text for word in command.words]
    if command.name != "sed" or words[:1] != ["-i"] or len(words) < 3:
        return False
    return _SUBSTITUTION.fullmatch(words[1]) is not None


def _is_connection(use: Use, folder: Place) -> bool:
    """Some programs take paths such as `/inet/tcp/…` for connections."""
    place = resolve(use.word, folder)
    return place is None or (place.anchor in "/?" and place.secret)
