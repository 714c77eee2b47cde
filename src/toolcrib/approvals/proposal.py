"""The rule that "always" would store for a call: as narrow as possible and still useful the next time. Lists
the arguments that may differ (texts, edits of files) and when a whole folder is allowed.

Arguments must match exactly, with two exceptions: long text content may differ, and a file of the project
stands for its folder. If nothing else would restrict the rule, and for commands and code, all must match.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolcrib.approvals.facts import code_argument, shell_argument
from toolcrib.approvals.paths import PathContext, at_home, below, lies_in, place_of
from toolcrib.approvals.rule import Pattern, Rule
from toolcrib.approvals.rule_match import INERT
from toolcrib.schema.tools import ToolCall
from toolcrib.serverkit.confined.protected import protected_part

LONG = 200
"""Longer texts are unlikely to occur again."""
_TEXT = frozenset(
    {"body", "comment", "content", "contents", "description", "html", "markdown", "message", "text"}
)
"""Arguments with text for readers, if long or with several lines; not code or queries."""
_EDITS = frozenset(
    {"content", "contents", "file_text"}
    | {f"{age}{part}" for age in ("old", "new") for part in ("str", "text", "_str", "_string", "_text")}
)
"""Arguments with file content, however short, if the call names the file."""
_LISTS_OF_EDITS = frozenset({"edits"})
_PATHS = frozenset({"file", "file_path", "filename", "filepath", "path"})
_REMOVING = ("delete", "remove", "unlink", "rmdir", "trash", "purge", "erase", "wipe")
_LONGEST_PATH = 4096


def proposed_rule(call: ToolCall, *, ours: bool, ground: PathContext, folders: Sequence[str] = ()) -> Rule:
    """The rule to offer; `folders` are the user's working folders."""
    exact = exact_rule(call, ours=ours)
    if shell_argument(call.tool, ours=ours) or code_argument(call.tool, ours=ours):
        return exact
    places = _places(call, ground, _usable(folders, ground))
    names_file = bool(places) or any(name.lower() in _PATHS for name in call.arguments)
    patterns = {
        name: places.get(name)
        or (Pattern(any=True) if _is_text(name, pattern.equals, names_file) else pattern)
        for name, pattern in exact.arguments.items()
    }
    if all(pattern.any for pattern in patterns.values()):
        return exact  # A rule for any use of the tool is for the user to write.
    return exact.model_copy(update={"arguments": patterns})


def tool_rule(call: ToolCall, *, ours: bool) -> Rule | None:
    """The rule for every call of the tool, whatever its arguments; None if not offered.

    Offered for tools declared read-only. Untrusted content still asks.
    """
    if not call.tool.definition.read_only:
        return None
    if shell_argument(call.tool, ours=ours) or code_argument(call.tool, ours=ours):
        return None
    return Rule(
        effect="allow",
        server=call.tool.server or "",
        tool=call.tool.definition.name,
        definition=call.tool.hash,
    )


def exact_rule(call: ToolCall, *, ours: bool) -> Rule:
    """The rule for this very call of this tool."""
    inert = INERT if shell_argument(call.tool, ours=ours) else frozenset[str]()
    named = {name: Pattern(equals=value) for name, value in call.arguments.items() if name not in inert}
    return Rule(
        effect="allow",
        server=call.tool.server or "",
        tool=call.tool.definition.name,
        arguments=named,
        closed=True,
        exact=True,
        definition=call.tool.hash,
    )


def _is_text(name: str, value: Any, names_file: bool) -> bool:
    plain = name.lower()
    if isinstance(value, str):
        if names_file and plain in _EDITS:
            return True
        return plain in _TEXT and (len(value) > LONG or "\n" in value.strip())
    return names_file and plain in _LISTS_OF_EDITS and _are_edits(value)


def _are_edits(value: Any) -> bool:
    """Whether these are text replacements in the file that the call names."""
    return isinstance(value, list) and all(
        isinstance(edit, Mapping)
        and all(key.lower() in _EDITS and isinstance(edit[key], str) for key in edit)
        for edit in value
    )


def _places(call: ToolCall, ground: PathContext, folders: Sequence[str]) -> dict[str, Pattern]:
    name = call.tool.definition.name.lower()
    if any(word in name for word in _REMOVING):
        return {}  # Deleting one file says nothing about its neighbours.
    found = (
        (argument, _folder(argument, value, ground, folders)) for argument, value in call.arguments.items()
    )
    return {argument: Pattern(under=folder) for argument, folder in found if folder is not None}


def _folder(argument: str, value: Any, ground: PathContext, folders: Sequence[str]) -> str | None:
    """The folder of a project path; None if the rule is for the path itself."""
    if not isinstance(value, str) or len(value) > _LONGEST_PATH or "\n" in value:
        return None
    if not value.startswith("/") and argument.lower() not in _PATHS:
        return None
    place = place_of(value, ground)
    within = next((folder for folder in folders if place is not None and lies_in(place, folder)), None)
    if place is None or within is None or place == within:
        return None
    if protected_part(below(place, within)):
        return None
    return place if ground.disk.is_folder(place) else str(Path(place).parent)


def _usable(folders: Sequence[str], ground: PathContext) -> list[str]:
    """Folders that a rule may name; never the whole home."""
    home = ground.disk.real(at_home("~")) or "/"
    real = [ground.disk.real(at_home(folder)) for folder in folders if folder]
    return [folder for folder in real if folder is not None and not lies_in(home, folder)]
