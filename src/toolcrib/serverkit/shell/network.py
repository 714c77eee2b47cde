"""Which commands use no network, so that nothing they print comes from outside: lists of programs, of git
commands, and of a project's checks and builds.

A list of what is known: programs that only change files here, git commands on the repository here, and the
project's own checks and builds in their plain form. These run the project's code, whose files count as local
too; an option that names another program, script or config is not plain, and a tool that downloads what a
project asks for (cargo, go, yarn, pnpm, rustup) is not on the list.
"""

from __future__ import annotations

import re
from functools import lru_cache

from toolcrib.serverkit.shell.options import Syntax, Use, parse
from toolcrib.serverkit.shell.paths import ShellPath, resolve
from toolcrib.serverkit.shell.readers import asks_version, uses_of
from toolcrib.serverkit.shell.script import Simple, read_script
from toolcrib.serverkit.shell.sed import only_prints
from toolcrib.serverkit.shell.words import MAX_LENGTH, NotUnderstood, Word, listed

_FILES = listed("chmod chown cp kill ln mkdir mktemp mv rm rmdir tee touch truncate")
"""Programs that change files or processes here, whatever their options."""
_PLAIN_OPTIONS = {
    "black": Syntax(flags="qvt", values="l", long="check diff quiet verbose line-length= fast"),
    "eslint": Syntax(long="fix quiet max-warnings= no-color"),
    "gofmt": Syntax(flags="dlsew"),
    "isort": Syntax(flags="cq", long="check check-only diff profile= quiet"),
    "jest": Syntax(flags="ibt", long="runInBand bail verbose silent watchAll=false testNamePattern="),
    "make": Syntax(flags="knBsik", endings="j", long="keep-going dry-run always-make silent jobs[=]"),
    "mypy": Syntax(values="m", long="strict ignore-missing-imports module= no-error-summary pretty"),
    "ninja": Syntax(flags="vn", values="j"),
    "prettier": Syntax(flags="wcl", long="write check list-different"),
    "pyright": Syntax(long="outputjson stats"),
    "pytest": Syntax(
        flags="qvxsl",
        values="km",
        endings="r",
        long="verbose quiet exitfirst maxfail= last-failed lf failed-first ff tb= durations= no-header "
        "no-summary collect-only co stepwise sw",
    ),
    "ruff": Syntax(flags="q", long="fix diff quiet check select= ignore= no-cache"),
    "shellcheck": Syntax(values="sSef", long="shell= severity= exclude= format="),
    "tsc": Syntax(flags="bp", long="noEmit build project pretty strict skipLibCheck"),
    "vitest": Syntax(long="run"),
}
"""Checks and builds, with options that name no other program, script or config."""
_COMPILERS = listed("c++ cc clang clang++ g++ gcc")
_COMPILER_WORD = re.compile(
    r"-([cESgvw]|g\d|O\w?|W[\w=-]*|std=[\w+]+|[DIlLoU][^,]*|f(PIC|pic)|pthread|shared|M[DMP]*)"
)
_TARGETS = listed("all build check clean format fmt lint test tests typecheck")
"""Of make, ninja and `npm run`: another one could as well be a download."""
_GIT = listed("""
    add am apply branch checkout cherry-pick clean commit init merge mv rebase reset restore revert rm stash
    switch tag worktree
    """)
_GIT_OPTIONS = Syntax(
    flags="aAbBcdDefklmMnpqrsuvwC",
    long="abort all amend annotate cached continue delete detach dry-run ff-only force hard keep keep-index "
    "list message= mixed move no-commit no-edit no-ff no-verify onto= orphan ours patch quiet quit "
    "set-upstream-to= signoff skip soft squash staged theirs update verbose worktree",
)


def stays_local(command: str) -> bool:
    """Whether nothing that a command prints can come from the network."""
    return len(command) <= MAX_LENGTH and _stays_local(command)


@lru_cache(maxsize=256)
def _stays_local(command: str) -> bool:
    try:
        commands = read_script(command, writes=True)
    except NotUnderstood:
        return False
    return all(map(_is_local, commands))


def _is_local(command: Simple) -> bool:
    if asks_version(command) or command.name in _FILES or _builds(command):
        return True
    if _commits(command) or _edits_in_place(command):
        return True
    uses = uses_of(command)
    return uses is not None and not any(
        _is_connection(use, folder) for use in uses for folder in command.folders
    )


def _builds(command: Simple) -> bool:
    """Without input, which could be a script."""
    if command.fed:
        return False
    if command.name == "npm":
        return _is_npm_script([word.text for word in command.words])
    if command.name in _COMPILERS:
        return all(map(_is_compiled, command.words))
    syntax = _PLAIN_OPTIONS.get(command.name)
    parsed = parse(command.words, syntax) if syntax is not None else None
    if parsed is None:
        return False
    return command.name not in ("make", "ninja") or _TARGETS.issuperset(word.text for word in parsed.operands)


def _is_npm_script(words: list[str]) -> bool:
    if words[:1] in (["run"], ["run-script"]):
        return len(words) == 2 and words[1] in _TARGETS
    return words in (["test"], ["t"])


def _is_compiled(word: Word) -> bool:
    """A source file or an option that names no plugin, wrapper or file of options."""
    if word.option_possible:
        return word.literal and _COMPILER_WORD.fullmatch(word.text) is not None
    return not word.text.startswith("@")


def _commits(command: Simple) -> bool:
    """A change of the repository; its options run no other program."""
    first, *rest = command.words or (Word(),)
    if command.name != "git" or first.text not in _GIT:
        return False
    return parse(rest, _GIT_OPTIONS) is not None


def _edits_in_place(command: Simple) -> bool:
    """`sed -i` with a script that runs nothing and names no other file."""
    words = [word.text for word in command.words]
    if command.name != "sed" or words[:1] != ["-i"] or len(words) < 3:
        return False
    if any(word.option_possible for word in command.words[2:]):
        return False  # with `-e`, the first word is no script
    return only_prints(words[1])


def _is_connection(use: Use, folder: ShellPath) -> bool:
    """Some programs take paths such as `/inet/tcp/…` for connections."""
    place = resolve(use.word, folder)
    return place is None or (place.anchor in "/?" and place.secret)
