"""Shows a call to the user who approves it: a command part by part with its limits, an edit as a diff.
Decides the longest diff, its lines of context, and the largest file that is read.

Reads at most the file that the call would write, and only if it is a regular file of moderate size. Other
calls are shown by their arguments.
"""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolcrib.approvals.facts import code_argument, shell_argument
from toolcrib.approvals.paths import at_home
from toolcrib.schema.tools import Tool

Exhibit = dict[str, Any]
LARGEST_FILE = 512 * 1024
MOST_LINES = 4000
"""Longer diffs are cut."""
CONTEXT = 2
LONGEST = 120.0
"""Seconds that a command may take in the foreground."""


def exhibit(
    tool: Tool | None, arguments: Mapping[str, Any], *, ours: bool, folder: str, sandbox: str = ""
) -> Exhibit:
    """The preview of a call, shown beside its arguments; reads the disk.

    `sandbox` describes the sandbox of commands.
    """
    if tool is not None:
        shell = shell_argument(tool, ours=ours)
        if shell is not None:
            shown = _command(str(arguments.get(shell, "")), _place(arguments, folder), folder)
            return {**shown, "limits": _limits(arguments, sandbox)}
        code = code_argument(tool, ours=ours)
        if code is not None:
            return {"kind": "code", "text": str(arguments.get(code, ""))}
    return _edit(arguments, folder) or {"kind": "arguments"}


def _place(arguments: Mapping[str, Any], folder: str) -> str:
    """Where a command would run."""
    wanted = arguments.get("cwd")
    if not isinstance(wanted, str) or not wanted:
        return folder
    return os.path.normpath(Path(folder, at_home(wanted)))


def _limits(arguments: Mapping[str, Any], sandbox: str) -> list[str]:
    """The sandbox and the time limit of a command."""
    if arguments.get("background") is True:
        return [*filter(None, [sandbox]), "continues in the background"]
    wanted = arguments.get("timeout")
    given = wanted if isinstance(wanted, int | float) and wanted > 0 else LONGEST
    return [*filter(None, [sandbox]), f"{min(given, LONGEST):g} s at most"]


def _command(command: str, folder: str, project: str) -> Exhibit:
    """The command with its parts, and what each does."""
    from toolcrib.serverkit.shell.effects import effects_of_part
    from toolcrib.serverkit.shell.paths import PROJECT, place_of
    from toolcrib.serverkit.shell.readers import only_reads
    from toolcrib.serverkit.shell.script import read_script
    from toolcrib.serverkit.shell.words import NotUnderstood

    shown: Exhibit = {"kind": "command", "command": command, "folder": folder, "parts": [], "unread": ""}
    try:
        commands = read_script(command, place_of(folder, project) or PROJECT)
    except NotUnderstood as error:
        return {**shown, "unread": error.what}
    for part in commands:
        doubt = only_reads(part)
        does = "; ".join(effect.what for effect in effects_of_part(part)) if doubt else ""
        shown["parts"].append({"text": part.text, "doubt": does or doubt})
    return shown


def _edit(arguments: Mapping[str, Any], folder: str) -> Exhibit | None:
    path = arguments.get("path")
    if not isinstance(path, str):
        return None
    content = arguments.get("content")
    if isinstance(content, str):
        before = _text_of(path, folder)
        return _difference(path, before or "", content, new=before is None)
    pairs = _replacements(arguments.get("edits"))
    if not pairs:
        return None
    before = _text_of(path, folder)
    after = _replaced(before, pairs)
    if before is not None and after is not None:
        return _difference(path, before, after)
    lines = [line for old, new in pairs for line in _lines(old, new)]
    return _shown(path, lines, numbered=False)


def _replacements(edits: object) -> list[tuple[str, str]]:
    """The edits in the format of common file servers: `oldText` and `newText`."""
    if not isinstance(edits, list):
        return []
    pairs: list[tuple[str, str]] = []
    for edit in edits:
        old, new = (edit.get("oldText"), edit.get("newText")) if isinstance(edit, Mapping) else (None, None)
        if not isinstance(old, str) or not isinstance(new, str):
            return []
        pairs.append((old, new))
    return pairs


def _replaced(text: str | None, pairs: Sequence[tuple[str, str]]) -> str | None:
    for old, new in pairs:
        if text is None or not old or old not in text:
            return None
        text = text.replace(old, new, 1)
    return text


def _difference(path: str, before: str, after: str, *, new: bool = False) -> Exhibit:
    lines = list(_lines(before, after))
    return _shown(path, lines, numbered=True, new=new)


def _shown(path: str, lines: list[dict[str, Any]], *, numbered: bool, new: bool = False) -> Exhibit:
    if not numbered:
        lines = [{**line, "number": None} for line in lines]
    changed = max(
        sum(line["kind"] == "added" for line in lines), sum(line["kind"] == "removed" for line in lines)
    )
    if len(lines) > MOST_LINES:
        more = {
            "kind": "gap",
            "number": None,
            "text": f"{len(lines) - MOST_LINES:,} more lines: see the raw call",
        }
        lines = [*lines[:MOST_LINES], more]
    return {"kind": "edit", "path": path, "new": new, "lines": lines, "changed": changed}


def _lines(before: str, after: str) -> Iterator[dict[str, Any]]:
    """The changed lines with some context; `gap` marks omitted lines."""
    old, new = before.splitlines(), after.splitlines()
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=len(old) + len(new) > MOST_LINES)
    for index, group in enumerate(matcher.get_grouped_opcodes(CONTEXT)):
        if index:
            yield {"kind": "gap", "number": None, "text": ""}
        for tag, first, last, new_first, new_last in group:
            if tag == "equal":
                for at in range(first, last):
                    yield {"kind": "same", "number": at + 1, "text": old[at]}
                continue
            for at in range(first, last):
                yield {"kind": "removed", "number": at + 1, "text": old[at]}
            for at in range(new_first, new_last):
                yield {"kind": "added", "number": at + 1, "text": new[at]}


def _text_of(path: str, folder: str) -> str | None:
    """The content of a text file; None if it is missing or cannot be shown."""
    wanted = Path(folder, path) if folder else Path(path)
    if not wanted.is_absolute() or "\0" in path:
        return None
    try:
        descriptor = os.open(wanted, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return None
    try:
        return _plain_text(descriptor)
    except (OSError, UnicodeDecodeError):
        return None
    finally:
        os.close(descriptor)


def _plain_text(descriptor: int) -> str | None:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_FILE:
        return None
    parts: list[bytes] = []
    while part := os.read(descriptor, LARGEST_FILE):
        parts.append(part)
        if sum(map(len, parts)) > LARGEST_FILE:
            return None
    return b"".join(parts).decode("utf-8")
