"""Guards for commands that run without approval, so that they do nothing but read.

Each guard is a shell function in place of a program: git runs no program that a repository names, searches
leave out private files, and programs that are asked for their version run outside of the project, whose files
may choose another version. Patterns match no file whose name looks like an option.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from functools import cache

from toolcrib.bundled.terminal import safe_git
from toolcrib.serverkit.secret_places import BEGINNINGS, NAMES, PLACES
from toolcrib.serverkit.shell import guards_for

_PATTERNS = "GLOBIGNORE='-*'; shopt -u dotglob"
"""Setting the variable lets patterns match hidden files, which is taken back."""


def guard(command: str, cwd: str = "", project: str = "") -> str:
    """The same command, with the guards that it needs."""
    needed = guards_for(command, cwd, project)
    parts = [_PATTERNS] if needed.patterns and any(sign in command for sign in "*?[") else []
    replaced = needed.versions | (needed.programs & {"git", *_OPTIONS})
    parts += [_function(name) for name in sorted(replaced)]
    return "; ".join([*parts, command])


def _function(name: str) -> str:
    if name == "git":
        program = shlex.join([sys.executable, "-I", "-S", safe_git.__file__])
        return f'git() {{ {program} "$@"; }}'
    if name in _OPTIONS:
        return f'{name}() {{ command {name} "$@" {_excluding(name)}; }}'
    return f'{name}() {{ ( cd / && command {name} "$@" ); }}'


_OPTIONS = {
    "diff": "--exclude={}",
    "egrep": "--exclude={0} --exclude-dir={0}",
    "fgrep": "--exclude={0} --exclude-dir={0}",
    "grep": "--exclude={0} --exclude-dir={0}",
    "rg": "--iglob=!{}",
}
"""How a search is told to leave something out."""


@cache
def _excluding(name: str) -> str:
    return " ".join(_OPTIONS[name].format(shlex.quote(pattern)) for pattern in _private_names())


def _private_names() -> Iterator[str]:
    """Names that a search leaves out; of several in a row the first, if it is a hidden folder."""
    yield from NAMES
    yield from (f"{beginning}*" for beginning in BEGINNINGS)
    folders = dict.fromkeys(place.partition("/")[0] for place in PLACES)
    yield from (folder for folder in folders if folder.startswith("."))
