"""Which commands stay on this machine: every program in them is known to use no network.

Not known is any program that runs the project's code or fetches packages, and git where it talks to others.
"""

from __future__ import annotations

from toolcrib.serverkit.shell.options import Use
from toolcrib.serverkit.shell.paths import Place, resolve
from toolcrib.serverkit.shell.reading import asks_version, uses_of
from toolcrib.serverkit.shell.script import Simple, read_script
from toolcrib.serverkit.shell.words import NotUnderstood, listed

_FILES = listed("chmod chown cp kill ln mkdir mktemp mv rm rmdir tee touch truncate")
"""Programs that change files or processes here, whatever their options."""
_GIT = listed("add branch init mv rm tag")
"""Commands of git that only change the repository, and ask no filter or remote for content."""


def stays_local(command: str) -> bool:
    """Whether nothing that a command prints can come from the network."""
    try:
        commands = read_script(command, writes=True)
    except NotUnderstood:
        return False
    return all(map(_is_local, commands))


def _is_local(command: Simple) -> bool:
    if asks_version(command) or command.name in _FILES:
        return True
    if command.name == "git" and command.words and command.words[0].text in _GIT:
        return True
    uses = uses_of(command)
    return uses is not None and not any(
        _is_connection(use, folder) for use in uses for folder in command.folders
    )


def _is_connection(use: Use, folder: Place) -> bool:
    """Some programs take paths such as `/inet/tcp/…` for connections."""
    place = resolve(use.word, folder)
    return place is None or (place.anchor in "/?" and place.secret)
