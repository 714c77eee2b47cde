"""Shell commands: read-only ones run, destructive ones are denied, others ask. Checks the files that a
command names: links, secrets, Toolcrib's own. The lists of commands are in `serverkit/shell`.

Toolcrib's own files are found also where a rule of the user allows the command. A rule for `ln *` or `cp *`
was not written for them: a copy or a hard link in the project could be read without approval. The words are
read roughly, so that this finds something, never nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from glob import escape, has_magic
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.approvals.facts import Facts, shell_argument
from toolcrib.approvals.paths import MOST_ENTRIES, Disk, at_home, lies_in
from toolcrib.config.hidden import shown
from toolcrib.schema.approvals import RuleResult
from toolcrib.schema.tools import ToolCall
from toolcrib.serverkit.own_places import LENT, folded

if TYPE_CHECKING:
    from toolcrib.serverkit.shell import Verdict

MOST_WORDS = 2000
_LONGEST_PATH = 4096
_HOME = ("$HOME", "${HOME}")


MOST_PATHS = 500
MOST_PATTERNS = 20
"""Paths and patterns of a command that are looked up on the disk; with more, the user is asked."""
_NO_FILES = ("/dev/", "/proc/")
"""Links are not followed there; the verdict knows which of these paths are harmless."""


def own_file_in(command: str, cwd: str, facts: Facts) -> str:
    """The first word that leads to a file of Toolcrib's own; empty if none does."""
    places = [folded(str(place)) for place in facts.protected]
    if not places or not (facts.project or cwd):
        return ""
    return next((word for word, path in _paths(command, cwd, facts) if _is_own(path, places, facts)), "")


def _is_own(path: str, places: Sequence[str], facts: Facts) -> bool:
    real = facts.disk.real(path) if facts.disk is not None else None
    routes = {folded(path), folded(real or path)}
    return any(
        lies_in(route, place) and not lies_in(route, f"{place}/{LENT}")
        for place in places
        for route in routes
    )


def _paths(command: str, cwd: str, facts: Facts) -> Iterator[tuple[str, str]]:
    """The words that may be paths, as absolute paths; relative ones from each folder that is entered."""
    from toolcrib.serverkit.shell import rough_commands

    folders, left = [os.path.normpath(os.path.join(facts.project, at_home(cwd)))], MOST_WORDS  # noqa: PTH118
    for name, *words in rough_commands(command):
        for word in words[: max(left, 0)]:
            for path in _readings(word, folders):
                yield word, path
        left -= len(words)
        if name in ("cd", "pushd") and words:
            folders += [path for path in _readings(words[-1], folders) if path not in folders][:1]
        folders = folders[-8:]


def _readings(word: str, folders: Sequence[str]) -> Iterator[str]:
    """Also of what follows an equals sign, as in `--target=PATH`, and of a file after `@`."""
    for text in {word, word.rpartition("=")[2], word.lstrip("@")}:
        if not 0 < len(text) <= _LONGEST_PATH or "\0" in text:
            continue
        variable = next((name for name in _HOME if text.startswith(name)), None)
        plain = at_home(f"~{text[len(variable) :]}" if variable else text)
        for folder in folders if not plain.startswith("/") else folders[:1]:
            yield os.path.normpath(os.path.join(folder, plain))  # noqa: PTH118


def check(call: ToolCall, facts: Facts) -> RuleResult | None:
    """The result of the command check."""
    argument = shell_argument(call.tool, ours=facts.ours)
    if argument is None:
        return None
    from toolcrib.serverkit.shell import judge

    command = str(call.arguments.get(argument, ""))
    cwd = _real_folder(str(call.arguments.get("cwd") or ""), facts)
    verdict = judge(command, cwd, facts.project)
    if verdict.kind == "destructive":
        return RuleResult(effect="deny", rule="shell", reason=verdict.reason)
    own = own_file_in(command, cwd, facts)
    if own:
        reason = f"{own} belongs to Toolcrib and may hold secrets."
        return RuleResult(effect="ask", rule="shell", reason=reason, final=True)
    if verdict.kind == "unknown":
        return RuleResult(effect="ask", rule="shell", reason=shown(verdict.reason), once=verdict.once)
    doubt = _doubt(verdict, facts)
    if doubt:
        return RuleResult(effect="ask", rule="shell", reason=doubt)
    return RuleResult(effect="allow", rule="shell", reason=verdict.reason, reads=True)


def _real_folder(cwd: str, facts: Facts) -> str:
    """The folder with links followed: a command starts in that, so that `..` is the folder above it."""
    if not cwd or facts.disk is None or not facts.project:
        return cwd
    real = facts.disk.real(os.path.join(facts.project, at_home(cwd)))  # noqa: PTH118
    project = facts.disk.real(facts.project)
    if real is None or project is None:
        return cwd
    return f"{facts.project}{real[len(project) :]}" if lies_in(real, project) else real


def _doubt(verdict: Verdict, facts: Facts) -> str:
    """Why the files of the command must be asked about: a path leads through links to private files or to
    Toolcrib's own, or there are too many to look at. Empty if neither."""
    routes = dict.fromkeys((*verdict.names, *verdict.paths, *verdict.trees))
    if len(routes) > MOST_PATHS or sum(map(has_magic, routes)) > MOST_PATTERNS:
        return "It names too many files to check before it runs."
    private = next(_private(routes, verdict, facts), None)
    return "" if private is None else f"{private} leads to a folder with secrets."


def _private(routes: Iterable[str], verdict: Verdict, facts: Facts) -> Iterator[str]:
    if facts.disk is None:
        return
    left, contents, trees = MOST_ENTRIES, frozenset(verdict.paths), frozenset(verdict.trees)
    for route in routes:
        pattern = _absolute(route, facts.project)
        if not pattern.startswith("/"):
            continue
        tree = route in trees
        found, shown = facts.disk.matching(pattern), tree or route in contents
        left -= len(found or ())
        if (
            found is None
            or left < 0
            or (shown and _is_linked(found, facts, facts.disk))
            or (tree and any(map(facts.disk.has_linked_private, (*found, facts.project))))
            or any(_is_private(path, facts, shown=shown, tree=tree) for path in found)
        ):
            yield route


def _is_linked(paths: Sequence[str], facts: Facts, disk: Disk) -> bool:
    """Whether one of these is a hard link to a private file or to one of Toolcrib's own."""
    return disk.any_linked(paths, facts.protected) or disk.any_private_link(paths, facts.project)


def _absolute(route: str, project: str) -> str:
    if route.startswith("~"):
        return f"{escape(str(Path.home()))}{route[1:]}"
    return f"{escape(project)}/{route}" if project and not route.startswith("/") else route


def _is_private(path: str, facts: Facts, *, shown: bool, tree: bool) -> bool:
    from toolcrib.serverkit.secret_places import holds_secret_path, is_secret_path

    place = os.path.normpath(path)
    if facts.disk is None or (place.startswith(_NO_FILES) and ".." not in path.split("/")):
        return False
    real, project = facts.disk.real(path), facts.disk.real(facts.project)
    if real is None or any(_holds(str(folder), real, tree=tree) for folder in facts.protected):
        return True
    if shown and _is_closed(real, project or facts.project, tree=tree):
        return True
    inside = bool(facts.project) and lies_in(place, facts.project)
    depth = len(Path(facts.project).parts) - 1 if inside else 0
    if (shown and is_secret_path(place, below=depth)) or (tree and holds_secret_path(real)):
        return True  # what a pattern matches, and where a link leads
    return real != place and is_secret_path(real)


def _holds(folder: str, real: str, *, tree: bool) -> bool:
    return lies_in(real, folder) or (tree and lies_in(folder, real))


def _is_closed(real: str, project: str, *, tree: bool) -> bool:
    """Whether what is in a file may be private because of where it is, outside of the project."""
    from toolcrib.serverkit.open_places import is_open_path

    home = str(Path.home())
    if tree and lies_in(home, real):
        return True
    if project not in ("", "/", home) and lies_in(real, project):
        return False
    return not is_open_path(real, home, project)
