"""Which git commands only read. Options of git itself, which can run programs, are never taken.

That a repository's own config runs nothing either is for whoever runs the command to see to:
`toolcrib.bundled.terminal.reading_git` does. What it cannot switch off is not called reading here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from toolcrib.serverkit.shell.words import Word

_WRITING = re.compile(
    r"--(ou|ext-d|textc|filt|op|up|ex|upl|rec|show-sig|add|rem|dele|edit|set|unset|repl|pag|alt|sub)|-O|-o"
    r"|--ignore-(su|s?(=|$))"
)
"""Beginnings of options of reading commands that write files, run programs, or look into other repositories,
whose config is not known; git takes abbreviations."""


def git_reads(words: Sequence[Word]) -> bool:
    """Whether these words after `git` only look."""
    left = list(words)
    while left and left[0].literal and left[0].text in ("--no-pager", "-P"):
        left.pop(0)
    if not left or not left[0].literal:
        return False
    check = _COMMANDS.get(left[0].text)
    return check is not None and check(left[1:])


def _looking(words: Sequence[Word]) -> bool:
    for word in words:
        if word.literal and word.text == "--":
            return True
        if word.option_possible and (not word.literal or _WRITING.match(word.text)):
            return False
    return True


def _describing(words: Sequence[Word]) -> bool:
    """Whether files were changed is found out with the filters of submodules."""
    return _looking(words) and not any(word.text.startswith(("--di", "--b")) for word in words)


def _listing(*options: str, operands_after: Sequence[str] = ()) -> Callable[[Sequence[Word]], bool]:
    """A command that lists without operands and changes something with them."""

    def check(words: Sequence[Word]) -> bool:
        free = False
        for word in words:
            if not word.literal:
                return False
            name = word.text.partition("=")[0]
            if name in operands_after:
                free = True
            elif name not in options and (not free or word.text.startswith("-")):
                return False
        return True

    return check


def _first(*names: str) -> Callable[[Sequence[Word]], bool]:
    def check(words: Sequence[Word]) -> bool:
        return bool(words) and words[0].literal and words[0].text in names and _looking(words[1:])

    return check


def _remote(words: Sequence[Word]) -> bool:
    texts = [word.text for word in words if word.literal]
    return len(texts) == len(words) and (texts in ([], ["-v"]) or texts[:1] == ["get-url"])


def _config(words: Sequence[Word]) -> bool:
    if not all(word.literal for word in words) or not words:
        return False
    reading = ("--get", "--get-all", "--list", "-l", "--get-regexp")
    known = (*reading, "--global", "--local", "--system", "--show-origin", "--show-scope", "--name-only")
    looks = words[0].text in ("get", "list") or any(word.text in reading for word in words)
    return looks and all(word.text in known or not word.text.startswith("-") for word in words)


def _reflog(words: Sequence[Word]) -> bool:
    return not words or (words[0].literal and words[0].text.startswith(("-", "show")) and _looking(words))


_BRANCH = (
    "-a",
    "-r",
    "-v",
    "-vv",
    "-l",
    "--list",
    "--all",
    "--remotes",
    "--show-current",
    "--sort",
    "--format",
)
_COMMANDS: dict[str, Callable[[Sequence[Word]], bool]] = {
    **dict.fromkeys(
        (
            "status",
            "log",
            "diff",
            "show",
            "blame",
            "shortlog",
            "rev-parse",
            "rev-list",
            "ls-files",
            "ls-tree",
            "cat-file",
            "grep",
            "merge-base",
            "name-rev",
            "show-ref",
            "diff-tree",
            "count-objects",
            "whatchanged",
            "for-each-ref",
            "check-ignore",
        ),
        _looking,
    ),
    "describe": _describing,
    "branch": _listing(
        *_BRANCH, operands_after=("--list", "-l", "--contains", "--merged", "--no-merged", "--points-at")
    ),
    "tag": _listing(
        "-l", "--list", "-n", "--sort", operands_after=("-l", "--list", "--contains", "--points-at")
    ),
    "remote": _remote,
    "config": _config,
    "stash": _first("list", "show"),
    "worktree": _first("list"),
    "submodule": _first("status"),
    "reflog": _reflog,
}
