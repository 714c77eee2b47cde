"""Run as a program in place of git while a command runs unasked: without programs that a repository chose.

Programs of the user's own config may run as always. What only the repository's config names - filters,
textconv, external diffs, hooks, a pager, a signature checker - is switched off, nothing is fetched, and
submodules are not looked into. Only the standard library, and little of it: this starts before every git.
"""

# ruff: noqa: PTH109, PTH112, PTH118, PTH120

from __future__ import annotations

import os
import re
import subprocess
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

THEIRS = ("local", "worktree")
"""Scopes of config that come with a repository."""
PROGRAMS = re.compile(
    r"""alias\..* | browser\..* | core\.(alternaterefscommand|askpass|editor|gitproxy|pager|sshcommand)
    | credential\..* | diff\.external | diff\..*\.(command|textconv) | difftool\..* | filter\..*
    | gpg\.(.*\.)?(program|defaultkeycommand) | interactive\.difffilter | log\.showsignature | man\..*
    | merge\..*\.driver | mergetool\..* | pager\..* | remote\..*\.(receivepack|uploadpack|vcs)
    | sequence\.editor | trailer\..*\.(cmd|command) | web\..*""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_DIFFING = re.compile(r"diff\.(external|.*\.(command|textconv))", re.IGNORECASE | re.DOTALL)
_FALSE = re.compile(r"filter\..*\.required|log\.showsignature", re.IGNORECASE | re.DOTALL)
_ALWAYS = (("core.fsmonitor", "false"), ("core.hooksPath", os.devnull), ("diff.submodule", "short"))
_NO_PROGRAMS = ("--no-ext-diff", "--no-textconv")
_SHOWING = ("blame", "diff", "diff-tree", "log", "reflog", "show", "stash", "whatchanged")
_LOOKING_AT_FILES = ("diff", "status")


def main() -> None:
    """Become git."""
    git = find_git(os.environ.get("PATH", ""))
    if git is None:
        sys.exit("git: not found")
    if command_of(sys.argv[1:]) == "diff" and not inside_repository(os.getcwd()):
        sys.exit("git diff: not in a repository, where it would compare any files")
    names = switched_off(git)
    arguments = careful(sys.argv[1:], diffing=any(_DIFFING.fullmatch(name) for name in names))
    os.execve(git, [git, *arguments], {**os.environ, **surroundings(names)})  # noqa: S606


def find_git(path: str) -> str | None:
    """The program itself."""
    places = (os.path.join(folder, "git") for folder in path.split(os.pathsep) if folder)
    return next((place for place in places if os.access(place, os.X_OK)), None)


def command_of(arguments: list[str]) -> str:
    """The command that git is given."""
    return next((word for word in arguments if not word.startswith("-")), "")


def inside_repository(folder: str) -> bool:
    """Whether a folder belongs to a repository, or is one without files."""
    if os.path.isdir(os.path.join(folder, "objects")) and os.path.isdir(os.path.join(folder, "refs")):
        return True
    while not os.path.lexists(os.path.join(folder, ".git")):
        folder, before = os.path.dirname(folder), folder
        if folder == before:
            return False
    return True


def switched_off(git: str) -> list[str]:
    """The names of what the repository here would have run."""
    words = [git, "config", "--includes", "--show-scope", "--name-only", "--null", "--list"]
    told = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False).stdout
    parts = told.decode("utf-8", "surrogateescape").split("\0")
    pairs = zip(parts[::2], parts[1::2], strict=False)
    found = (name for scope, name in pairs if scope in THEIRS and PROGRAMS.fullmatch(name))
    return list(dict.fromkeys(found))


def surroundings(names: Iterable[str]) -> dict[str, str]:
    """Variables that outweigh the repository's config."""
    values = [*_ALWAYS, *((name, "false" if _FALSE.fullmatch(name) else "") for name in names)]
    given = {"GIT_CONFIG_COUNT": str(len(values)), "GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1"}
    for number, (name, value) in enumerate(values):
        given[f"GIT_CONFIG_KEY_{number}"], given[f"GIT_CONFIG_VALUE_{number}"] = name, value
    return given


def careful(arguments: list[str], *, diffing: bool) -> list[str]:
    """The same command with what it must not do."""
    at = next((place for place, word in enumerate(arguments) if not word.startswith("-")), len(arguments))
    if at == len(arguments):
        return arguments
    name, end = arguments[at], at + 1
    if name in ("reflog", "stash") and arguments[end : end + 1] in (["list"], ["show"]):
        end += 1
    more = list(_NO_PROGRAMS) if diffing and name in _SHOWING else []
    if name in _LOOKING_AT_FILES:
        more.append("--ignore-submodules=dirty")
    return [*arguments[:end], *more, *arguments[end:]]


if __name__ == "__main__":
    main()
