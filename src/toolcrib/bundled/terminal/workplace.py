"""Starts commands in a folder, in the sandbox and under limits (seconds in the foreground, processes, memory,
disk); finds files there, without skipped folders such as node_modules. Has the guards for commands that only
read.

Guards for commands that run without approval, so that they do nothing but read. Each guard is a shell
function in place of a program: git runs no program that a repository names, searches leave out private files
and links to others, sed runs in its sandbox, `ps` shows no arguments, and programs that are asked for their
version run outside of the project, whose files may choose another version. Patterns match no file whose name
looks like an option.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

from toolcrib.bundled.terminal import safe_git
from toolcrib.bundled.terminal.environment import SHELL, environment
from toolcrib.bundled.terminal.processes import RunningCommand
from toolcrib.bundled.terminal.sandbox import Sandbox
from toolcrib.serverkit import caller_context
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.own_places import is_home, is_store, own_holding
from toolcrib.serverkit.secret_places import BEGINNINGS, FILES, NAMES, PLACES, PROJECT_PLACES
from toolcrib.serverkit.shell import guards_for

_PATTERNS = "GLOBIGNORE='-*'; shopt -u dotglob"
"""Setting the variable lets patterns match hidden files, which is taken back."""

CEILING = 120.0
"""Seconds that a command may take in the foreground."""
GIB = 1024 * 1024 * 1024


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


@dataclass(kw_only=True)
class Workplace:
    """`folder` is asked for each time: a host serves sessions in different folders.

    The others may be replaced; commands that are running stay as they were started.
    """

    folder: Callable[[], Path]
    sandbox: Sandbox = field(default_factory=Sandbox)
    variables: Sequence[str] = ()
    """Names of further environment variables that commands may see."""
    max_processes: int = 500
    max_memory: int = 8 * GIB
    max_disk: int = 16 * GIB
    """For the temporary files of its commands."""
    max_file: int = 0
    """For each file that a command writes; 0 for no limit. With one, the working folder is temporary too."""

    def place(self, cwd: str | None) -> str:
        """The folder to run in; relative ones start at the working folder. Raises `ToolFailure`."""
        folder = self.folder() if cwd is None else self.folder() / Path(cwd).expanduser()
        if not folder.is_dir():
            raise ToolFailure(f"{str(folder)!r} is not a folder.", f"The working folder is {self.folder()}.")
        return str(folder.resolve())

    def searchable(self, directory: str | None) -> Path:
        """A folder that may be searched: the working folder, one of those named beside it, or one inside.

        Raises `ToolFailure`.
        """
        folder = Path(self.place(directory))
        named = (Path(name).expanduser() for name in self.sandbox.folders)
        allowed = [path.resolve() for path in (self.folder(), *named)]
        if any(folder.is_relative_to(root) for root in allowed) and not self.is_closed(folder):
            return folder
        raise ToolFailure(
            f"{str(folder)!r} may not be searched.", f"Allowed: {', '.join(map(str, allowed))}."
        )

    def is_closed(self, folder: Path) -> bool:
        """Whether a folder holds secrets or is Toolcrib's own."""
        if own_holding(folder, self.folder().resolve()) or is_home(folder) or is_store(folder):
            return True
        return any(
            folder.is_relative_to(Path(hidden).expanduser().resolve()) for hidden in self.sandbox.hidden
        )

    def shell(
        self, command: str, cwd: str | None, *, guarded: bool = False, pty: bool = False, feed: bool = False
    ) -> RunningCommand:
        """Start a shell command; `guarded` lets the parts of it that only read do nothing else."""
        if "\0" in command:
            raise ToolFailure("A command cannot contain a null character.")
        if guarded:
            command = guard(command, cwd or "", str(self.folder()))
        argv = [SHELL, "--noprofile", "--norc", "-c", command]
        return self.start(argv, self.place(cwd), pty=pty, feed=feed)

    def start(
        self,
        argv: Sequence[str],
        folder: str,
        *,
        pty: bool = False,
        feed: bool = False,
        errors: bool = False,
    ) -> RunningCommand:
        """Start a program, in the sandbox and under the limits; `errors` keeps its stderr apart."""
        own = str(self.folder())
        order = {
            **self.sandbox.confine(argv, own, folder),
            "cwd": folder,
            "max_processes": self.max_processes,
            "max_memory": self.max_memory,
            **self._disk_limits(own),
        }
        seen = environment(own, more=self.variables, pty=pty, temporary=self.sandbox.temporary(own))
        return RunningCommand.start(order, seen, pty=pty, feed=feed, errors=errors)

    def _disk_limits(self, folder: str) -> dict[str, Any]:
        if self.sandbox.kind == "none":
            return {}
        measured, new = [str(self.sandbox.scratch.of(folder))], bool(self.max_file)
        limits = {"max_disk": self.max_disk, "max_file": self.max_file}
        # Where files are limited one by one, all are of this command; else some are left from earlier ones.
        return {**limits, "measured": [*measured, *([folder] if new else [])], "from_now": not new}


async def finished(running: RunningCommand, seconds: float) -> bool:
    """Wait for the end; a timeout or a cancellation ends the command with all its processes."""
    try:
        async with asyncio.timeout(seconds):
            await running.done.wait()
    except TimeoutError:
        await _stopped(running)
        return False
    except asyncio.CancelledError:
        try:
            await _stopped(running)
        finally:
            if (report := caller_context.ended.get()) is not None:
                report(running.ended)
        raise
    return True


async def _stopped(running: RunningCommand) -> None:
    """End it and wait, even if the caller is cancelled again; takes a moment at most."""
    stopping = asyncio.ensure_future(running.stop())
    cancelled = False
    while not stopping.done():
        try:
            await asyncio.shield(stopping)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError


MOST_FOUND = 500
MOST_LOOKED_AT = 200_000
SECONDS = 10.0
SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache"})


def find(pattern: str, folder: Path, is_closed: Callable[[Path], bool]) -> str:
    """The paths, relative to the folder, and a note on what was left out; closed folders are not entered."""
    found: list[str] = []
    until = time.monotonic() + SECONDS
    for looked_at, relative in enumerate(_walk(folder, is_closed), start=1):
        if _fits(relative, pattern):
            found.append(relative)
        if len(found) >= MOST_FOUND:
            return _listing(found, f"[The first {MOST_FOUND}; there are more.]")
        if looked_at >= MOST_LOOKED_AT or time.monotonic() > until:
            return _listing(found, f"[Stopped after {looked_at} files.]")
    return _listing(found, "")


def _walk(folder: Path, is_closed: Callable[[Path], bool]) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        open_ones = (name for name in folders if name not in SKIPPED and not is_closed(Path(place, name)))
        folders[:] = sorted(open_ones)
        inside = os.path.relpath(place, folder)
        prefix = "" if inside == "." else f"{inside}/"
        yield from (f"{prefix}{name}" for name in sorted(files))


def _fits(relative: str, pattern: str) -> bool:
    if "/" not in pattern:
        return fnmatch(relative.rpartition("/")[2], pattern)
    return fnmatch(relative, pattern) or fnmatch(relative, pattern.replace("**/", ""))


def _listing(found: list[str], note: str) -> str:
    return "\n".join([*found, *filter(None, [note])]) or "No file matches."
