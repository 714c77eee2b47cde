"""YAML changed in place, by whole lines below one top-level key; comments and everything else stay.

Only indentation is trusted to say what belongs together, as YAML itself does; a file that is written in
another way (one flow mapping, several documents, tabs) is refused.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from toolcrib.config.connecting.client import Entry, Table
from toolcrib.config.connecting.yaml_reading import Unreadable, read_block, read_inline, read_key
from toolcrib.errors import ConfigError

STEP = "  "
_OPEN_QUOTE = re.compile(r"""\s*(?:-\s+)*(?:[^\s#'"][^'"#]*?:\s+)?(?:"(?:[^"\\]|\\.)*|'(?:[^']|'')*)$""")

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")


@dataclass
class _Group:
    """A line with a key, and the lines that belong to it; or lines before the first key."""

    key: str | None
    lines: list[str]

    @property
    def value(self) -> str:
        """What stands after the colon."""
        found = read_key(self.lines[0].strip())
        return found[1] if found and not found[1].startswith("#") else ""


def entries(text: str, table: Table) -> dict[str, Any]:
    """The entries by name; None for one that is written in more YAML than we read."""
    section = _find(_groups(text, 0), table[0])
    return {child.key: _read(child) for child in _children(section) if child.key} if section else {}


def rest(text: str, table: Table, name: str) -> Any:
    """The lines of everything else, by key; empty lines do not count, an empty table is none."""
    groups = _groups(text, 0)
    section = _find(groups, table[0])
    others = [(one.key, _told(one.lines)) for one in groups if one is not section and _told(one.lines)]
    if section is None:
        return others, []
    return others, [(one.key, _told(one.lines)) for one in _children(section) if one.key not in (name, None)]


def put(text: str, table: Table, name: str, entry: Entry) -> str:
    """The text with the entry: last of its section, or changed where it stands."""
    groups = _groups(text, 0)
    section = _find(groups, table[0])
    if section is None:
        ended = text if not text or text.endswith("\n") else f"{text}\n"
        return f"{ended}{snippet(table, name, entry)}\n"
    children = _children(section)
    child = _find(children, name)
    if child is not None:
        _change(child, entry)
    else:
        _append(section, children, name, entry)
    return _joined([*groups[: groups.index(section)], *children, *groups[groups.index(section) + 1 :]])


def take(text: str, table: Table, name: str) -> str:
    """The text without the entry; a section that would hold nothing more goes with it."""
    groups = _groups(text, 0)
    section = _find(groups, table[0])
    children = _children(section) if section else []
    child = _find(children, name)
    if section is None or child is None:
        return text
    child.lines = child.lines[_content_end(child.lines, _indent(child.lines[0])) :]
    left = [one for one in children if one.key and one is not child]
    if not left:
        children[0].lines = [line for line in children[0].lines[1:] if line.strip()]
    return _joined([*groups[: groups.index(section)], *children, *groups[groups.index(section) + 1 :]])


def snippet(table: Table, name: str, entry: Entry) -> str:
    """The section with the entry alone."""
    return "".join([f"{table[0]}:\n", *_render(name, entry, STEP, STEP)]).rstrip("\n")


def _append(section: _Group, children: list[_Group], name: str, entry: Entry) -> None:
    """Behind the last child, before the empty lines and comments that lead on to the next section."""
    first = next((child for child in children if child.key), None)
    indent = _indent(first.lines[0]) if first else len(STEP)
    head = children[0]
    if first is None:
        head.lines[0] = re.sub(r":\s*(\{\s*\}|null|~)?(?=\s*(#.*)?\n?$)", ":", head.lines[0], count=1)
    last = children[-1]
    end = _content_end(last.lines, indent)
    if not last.lines[end - 1].endswith("\n"):
        last.lines[end - 1] += "\n"
    last.lines[end:end] = _render(name, entry, " " * indent, STEP)


def _change(child: _Group, entry: Entry) -> None:
    """Put in what differs; lines of other keys, and comments on lines of their own, stay."""
    old = _read(child)
    if not isinstance(old, dict):
        raise ConfigError(f"The entry {child.key!r} is written in a way that cannot be changed safely.")
    changed = {key for key in {*old, *entry} if key not in old or key not in entry or old[key] != entry[key]}
    if not changed:
        return
    indent = _indent(child.lines[0])
    if child.value:
        end = _content_end(child.lines, indent)
        child.lines[:end] = _render(str(child.key), entry, " " * indent, STEP)
        return
    fields = _split(child.lines[1:], _first_indent(child.lines[1:]))
    lead = " " * _first_indent(child.lines[1:])
    new = [_field(key, entry[key], lead) for key in entry if key in changed]
    kept = [line for field in fields for line in _kept(field, changed)]
    child.lines = [child.lines[0], *new, *kept]


def _kept(field: _Group, changed: set[str]) -> list[str]:
    """A field that stays; of one that goes, the comments after it."""
    if field.key not in changed:
        return field.lines
    return field.lines[_content_end(field.lines, _indent(field.lines[0])) :]


def _render(name: str, entry: Entry, lead: str, step: str) -> list[str]:
    return [f"{lead}{_key(name)}:\n", *(_field(key, value, lead + step) for key, value in entry.items())]


def _field(key: str, value: Any, lead: str) -> str:
    # JSON on one line is YAML; characters are not escaped, since YAML knows no halves of pairs.
    return f"{lead}{_key(key)}: {json.dumps(value, ensure_ascii=False)}\n"


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _groups(text: str, indent: int) -> list[_Group]:
    """The file by its top-level keys."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    if any(re.match(r"(\.\.\.|%)", line) or re.match(r" *\t+ *[^\s#]", line) for line in lines):
        raise ConfigError("The file uses more of YAML than can be edited safely.")
    starts = [number for number, line in enumerate(lines) if line.startswith("---")]
    if len(starts) > 1 or (starts and (_told(lines[: starts[0]]) or lines[starts[0]].rstrip() != "---")):
        raise ConfigError("The file holds more than one document.")
    if any(_OPEN_QUOTE.match(line) for line in lines):
        # Its next lines may stand anywhere, and look like keys.
        raise ConfigError("The file holds a quoted text over several lines.")
    groups = _split(lines, indent)
    if _told(groups[0].lines):
        raise ConfigError("The file is no mapping of keys to values.")
    return groups


def _split(lines: list[str], indent: int) -> list[_Group]:
    groups = [_Group(None, [])]
    for line in lines:
        stripped = line.strip()
        structural = bool(stripped) and not stripped.startswith("#") and _indent(line) <= indent
        if not structural or stripped.startswith(("---", "- ")) or stripped == "-":
            groups[-1].lines.append(line)
            continue
        found = read_key(stripped) if _indent(line) == indent else None
        if found is None or any(group.key == found[0] for group in groups):
            raise ConfigError("The file is not written as plain lines of keys and values.")
        groups.append(_Group(found[0], [line]))
    return groups


def _children(section: _Group) -> list[_Group]:
    """The section's own line and what stands before its first key, then its keys."""
    inside = section.lines[1:]
    if section.value and (_told(inside) or section.value.split("#")[0].strip() not in ("{}", "null", "~")):
        raise ConfigError(f"{section.key!r} is not written as lines of its own.")
    if not _told(inside):
        return [_Group(None, section.lines)]
    indent = _first_indent(inside)
    if indent == 0 or inside[0].strip().startswith("- "):
        raise ConfigError(f"{section.key!r} is a list.")
    head, *children = _split(inside, indent)
    if _told(head.lines):
        raise ConfigError(f"{section.key!r} is no mapping.")
    return [_Group(None, [section.lines[0], *head.lines]), *children]


def _read(child: _Group) -> Any:
    try:
        if child.value:
            return read_inline(child.value) if not _told(child.lines[1:]) else None
        return read_block(child.lines[1:])
    except Unreadable:
        return None


def _find(groups: list[_Group], key: str) -> _Group | None:
    return next((group for group in groups if group.key == key), None)


def _told(lines: list[str]) -> list[str]:
    """The lines that say something: no empty ones, no comments, no beginning of a document."""
    return [
        line.rstrip()
        for line in lines
        if line.strip() and not line.strip().startswith("#") and line[:3] != "---"
    ]


def _content_end(lines: list[str], indent: int) -> int:
    """Where the trailing empty lines and comments begin; a deeper `#` may be part of a text."""
    end = len(lines)
    while end > 1:
        line = lines[end - 1]
        if line.strip() and not (line.strip().startswith("#") and _indent(line) <= indent):
            break
        end -= 1
    return end


def _first_indent(lines: list[str]) -> int:
    told = _told(lines)
    return _indent(told[0]) if told else len(STEP)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _joined(groups: list[_Group]) -> str:
    return "".join(line for group in groups for line in group.lines)
