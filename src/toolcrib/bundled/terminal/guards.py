"""Guards for commands that run without approval, so that they do nothing but read.

Each guard is a shell function in place of a program: git runs no program that a repository names, searches
leave out private files and links to others, and programs that are asked for their version run outside of the
project, whose files may choose another version. Patterns match no file whose name looks like an option.
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
    if {"find", "xargs"} <= needed.programs:
        replaced |= {"find"}
    parts += [_function(name) for name in sorted(replaced)]
    return "; ".join([*parts, command])


def _function(name: str) -> str:
    if name == "git":
        program = shlex.join([sys.executable, "-I", "-S", safe_git.__file__])
        return f'git() {{ {program} "$@"; }}'
    if name == "find":
        return f"find() {{ {_FIND_NO_LINKS} }}"
    if name in _OPTIONS:
        more = f"{_excluding(name)} {_NO_LINKS.get(name, '')}".strip()
        return f'{name}() {{ command {name} "$@" {more}; }}'
    return f'{name}() {{ ( cd / && command {name} "$@" ); }}'


_FIND_NO_LINKS = (
    'case " $* " in *" -print0 "*) command find "$@" | while IFS= read -r -d "" found; '
    'do [ -L "$found" ] || printf "%s\\0" "$found"; done;; *) command find "$@";; esac;'
)
"""Without links in what xargs reads: a link with the name of a source file can lead to any file."""
_OPTIONS = {
    "diff": "--exclude={}",
    "egrep": "--exclude={0} --exclude-dir={0}",
    "fgrep": "--exclude={0} --exclude-dir={0}",
    "grep": "--exclude={0} --exclude-dir={0}",
    "rg": "--iglob=!{}",
}
"""The option that leaves something out of a search."""
_NO_LINKS = {"diff": "--no-dereference"}
"""The option that keeps a program from following links in folders."""


@cache
def _excluding(name: str) -> str:
    return " ".join(_OPTIONS[name].format(shlex.quote(pattern)) for pattern in _private_names())


def _private_names() -> Iterator[str]:
    """Names that a search leaves out; of several in a row the first, if it is a hidden folder."""
    yield from NAMES
    yield from (f"{beginning}*" for beginning in BEGINNINGS)
    folders = dict.fromkeys(place.partition("/")[0] for place in PLACES)
    yield from (folder for folder in folders if folder.startswith("."))
