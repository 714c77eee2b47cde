"""Guards for commands that run without approval, so that they do nothing but read.

Each guard is a shell function in place of a program: git runs no program that a repository names, searches
leave out private files and links to others, sed runs in its sandbox, `ps` shows no arguments, and programs
that are asked for their version run outside of the project, whose files may choose another version. Patterns
match no file whose name looks like an option.
"""

from __future__ import annotations

import shlex
import sys
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
    """The variable that tells the program in place of git which names are private."""
    beginnings = (f"{beginning}*" for beginning in BEGINNINGS)
    hidden = (place for place in PLACES if place.startswith("."))
    names = ":".join((*NAMES, *FILES, *beginnings, *hidden, *PROJECT_PLACES))
    return f"{safe_git.NAMES_VARIABLE}={shlex.quote(names)}"


_GREP = 'command {} "$@" "${private[@]/#/--exclude=}" "${private[@]/#/--exclude-dir=}"'
_SEARCHES = {
    "diff": 'command {} "$@" --no-dereference "${private[@]/#/--exclude=}"',
    "egrep": _GREP,
    "fgrep": _GREP,
    "grep": _GREP,
    "rg": 'command {} "$@" "${private[@]/#/--iglob=!}"',
}
"""With the options that leave private names out; they come last, because the last one that matches counts."""
_FIND = (
    'case " $* " in *" -print0 "*) ;; *) command find "$@"; return;; esac; '
    "local links=() roots=() globals=() tests=() names=(-false) name; "
    'while [[ $1 == -[HLP] ]]; do links+=("$1"); shift; done; '
    'while (($#)); do case "$1" in -*|"("|"!") break;; esac; roots+=("$1"); shift; done; '
    'while (($#)); do case "$1" in -maxdepth|-mindepth) globals+=("$1" "$2"); shift;; '
    '-depth|-xdev|-mount|-daystart) globals+=("$1");; *) tests+=("$1");; esac; shift; done; '
    'for name in "${private[@]}"; do names+=(-o -name "$name" -o -path "*/$name/*"); done; '
    'command find "${links[@]}" "${roots[@]:-.}" "${globals[@]}" ! -type l ! "(" "${names[@]}" ")" '
    '"(" "${tests[@]}" ")"'
)
"""Without private files and links in what xargs reads: a link named as a source file can lead anywhere.

The words are told apart into folders, options for the whole search, and tests; no value looks like an option.
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
    """The names that a search leaves out, in any case, as an array of the shell."""
    return f"private=({' '.join(shlex.quote(_any_case(name)) for name in _private_names())})"


def _any_case(pattern: str) -> str:
    return "".join(f"[{sign}{sign.upper()}]" if sign.isalpha() else sign for sign in pattern)


@cache
def _private_names() -> tuple[str, ...]:
    """Names that a search leaves out; of several in a row the first, if it is a hidden folder."""
    folders = (place.partition("/")[0] for place in PLACES)
    hidden = (folder for folder in folders if folder.startswith("."))
    return tuple(dict.fromkeys((*NAMES, *FILES, *(f"{beginning}*" for beginning in BEGINNINGS), *hidden)))
