"""Guards for commands that run without approval, so that they do nothing but read.

Each guard is a shell function in place of a program: git runs no program that a repository names, searches
leave out private files and links to others, sed runs in its sandbox, `ps` shows no arguments, and programs
that are asked for their version run outside of the project, whose files may choose another version. Patterns
match no file whose name looks like an option.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable
from functools import cache

from toolcrib.bundled.terminal import safe_git
from toolcrib.serverkit.secret_places import BEGINNINGS, FILES, NAMES, PLACES, PROJECT_PLACES
from toolcrib.serverkit.shell import guards_for

_PATTERNS = "GLOBIGNORE='-*'; shopt -u dotglob"
"""Setting the variable lets patterns match hidden files, which is taken back."""


def guard(command: str, cwd: str = "", project: str = "") -> str:
    """The same command, with the guards that it needs."""
    needed = guards_for(command, cwd, project)
    parts = [_PATTERNS] if needed.patterns and any(sign in command for sign in "*?[") else []
    replaced = needed.versions | (needed.programs & _FUNCTIONS.keys())
    if "xargs" not in needed.programs:
        replaced -= {"find"}
    if not replaced.isdisjoint(("find", *_SEARCHES)):
        parts.append(_names())
    parts += [_function(name) for name in sorted(replaced)]
    return "; ".join([*parts, command])


def _function(name: str) -> str:
    body = _FUNCTIONS.get(name, '( cd / && command {} "$@" )').replace("{}", name)
    return f"{name}() {{ {body}; }}"


def names_for_git() -> str:
    """The variable with the private names, for the program in place of git."""
    beginnings = (f"{beginning}*" for beginning in BEGINNINGS)
    hidden = (place for place in PLACES if place.startswith("."))
    names = ":".join((*NAMES, *FILES, *beginnings, *hidden, *PROJECT_PLACES))
    return f"{safe_git.NAMES_VARIABLE}={shlex.quote(names)}"


_GREP = (
    'command {} "$@" "${private[@]/#/--exclude=}" "${files[@]/#/--exclude=}" "${private[@]/#/--exclude-dir=}"'
)
_SEARCHES = {
    "diff": 'command {} "$@" --no-dereference "${private[@]/#/--exclude=}" "${files[@]/#/--exclude=}"',
    "egrep": _GREP,
    "fgrep": _GREP,
    "grep": _GREP,
    "rg": 'command {} "$@" "${private[@]/#/--iglob=!}" "${files[@]/#/--iglob=!}"',
}
"""With the options that leave private names out; they come last, because the last one that matches counts."""
_FIND = (
    'case " $* " in *" -print0 "*) ;; *) command find "$@"; return;; esac; '
    "local links=() roots=() globals=() tests=() names=(-false) name; "
    'while [[ $1 == -[HLP] ]]; do links+=("$1"); shift; done; '
    'while (($#)); do case "$1" in -*|"("|"!") break;; esac; roots+=("$1"); shift; done; '
    'while (($#)); do case "$1" in -maxdepth|-mindepth) globals+=("$1" "$2"); shift;; '
    '-depth|-xdev|-mount|-daystart) globals+=("$1");; *) tests+=("$1");; esac; shift; done; '
    'for name in "${private[@]}" "${files[@]}"; do names+=(-o -iname "$name" -o -ipath "*/$name/*"); done; '
    'command find "${links[@]}" "${roots[@]:-.}" "${globals[@]}" ! -type l ! "(" "${names[@]}" ")" '
    '"(" "${tests[@]}" ")"'
)
"""Without private files and links in what xargs reads: a link named as a source file can lead anywhere.

The words are divided into folders, options for the whole search, and tests; no value looks like an option.
"""
_FUNCTIONS = {
    **_SEARCHES,
    "find": _FIND,
    "git": f'{names_for_git()} {shlex.join([sys.executable, "-I", "-S", safe_git.__file__])} "$@"',
    "ps": 'case "$1" in aux) shift; '
    'command {} axo user,pid,%cpu,%mem,vsz,rss,tty,stat,start,time,comm "$@";; '
    '*) command {} "$@";; esac',
    "sed": 'if command {} --sandbox --version >/dev/null 2>&1; then command {} --sandbox "$@"; '
    'else command {} "$@"; fi',
}
"""What runs in place of a program. Not all versions of sed have a sandbox."""


@cache
def _names() -> str:
    """The names that a search leaves out, as arrays of the shell: of files and folders, and of files only."""
    folders = (place.partition("/")[0] for place in PLACES)
    hidden = (folder for folder in folders if folder.startswith("."))
    names = dict.fromkeys((*NAMES, *(f"{beginning}*" for beginning in BEGINNINGS), *hidden))
    return f"private=({_in_cases(names, _any_case)}); files=({_in_cases(FILES, _capital)})"


def _in_cases(names: Iterable[str], wild: Callable[[str], Iterable[str]]) -> str:
    """In lower and in other cases. Names without a wildcard come first: compared together, they are free."""
    patterns = [name for name in names if "*" in name or "?" in name]
    plain = (name for name in names if name not in patterns)
    cases = (case for name in plain for case in (name, name.upper(), name.capitalize()))
    found = dict.fromkeys((*cases, *(case for pattern in patterns for case in wild(pattern))))
    return " ".join(map(shlex.quote, found))


def _any_case(pattern: str) -> Iterable[str]:
    yield "".join(f"[{sign}{sign.upper()}]" if sign.isalpha() else sign for sign in pattern)


def _capital(pattern: str) -> Iterable[str]:
    """Also with a capital letter, if it is one of those that people write so; each takes time."""
    yield pattern
    if pattern.startswith(("*secret", "*credential", "*passw")):
        yield f"*{pattern[1:].capitalize()}"
