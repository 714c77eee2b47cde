"""Edits YAML files: ruamel.yaml says where an entry is, and only those characters are replaced.

Its own writer is not used: it normalizes spacing, quotes and line breaks of the whole file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from toolcrib.config.drafts import Table
from toolcrib.errors import ConfigError
from toolcrib.features.clients.files.client import Entry
from toolcrib.features.clients.files.yaml_nodes import Node, is_mapping, parse, value_of

STEP = "  "
_PLAIN_KEY = re.compile(r"(?!(?:yes|no|on|off|true|false|null)$)[A-Za-z_][A-Za-z0-9_./-]*", re.IGNORECASE)
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
"""JSON allows these unescaped; YAML does not, or reads a line break."""
_COLON = re.compile(r"[ \t]*:")

Field = tuple[Node, Node]
"""A key and its value."""
Edit = tuple[int, int, str]
"""From where to where the text is replaced, and by what."""


def read(text: str) -> dict[str, Any]:
    """The document; raises `ConfigError`."""
    root = parse(text)
    if root is None:
        return {}
    found = value_of(text, root)
    if not isinstance(found, dict):
        raise ConfigError("The file has a duplicate key, or keys that are not text.")
    return found


def set_entries(text: str, table: Table, entries: Mapping[str, Entry]) -> str:
    """The text with the entries: new ones are the last of their section, others change where they are."""
    if not entries:
        return text
    read(text)
    (name,) = table
    root = parse(text)
    if root is not None and root.flow_style:
        raise ConfigError("The file does not have its keys on lines of their own.")
    section = _find(root, name)
    if section is None:
        lead = " " * root.start_mark.column if root is not None and root.value else ""
        return _applied(text, [_insertion(text, len(text), _section_lines(name, entries, lead))])
    return _applied(text, _section_edits(text, section, entries))


def remove_entry(text: str, table: Table, name: str) -> str:
    """The text without the entry; a section that would be empty is removed with it."""
    read(text)
    section = _find(parse(text), table[0])
    if section is None or _is_empty(section[1]):
        return text
    children = _block(section)
    child = _find(children, name)
    if child is None:
        return text
    edits = [_deletion(text, child)]
    if len(children.value) == 1:
        start = _line_start(text, section[0].start_mark.index)
        edits.append((start, _line_end(text, start), ""))
    return _applied(text, edits)


def _section_edits(text: str, section: Field, entries: Mapping[str, Entry]) -> list[Edit]:
    if _is_empty(section[1]):
        lead = " " * section[0].start_mark.column + STEP
        return _opened(text, section, _lines(entries, lead))
    children = _block(section)
    lead = " " * children.start_mark.column
    edits = []
    added = {}
    for name, entry in entries.items():
        child = _find(children, name)
        if child is None:
            added[name] = entry
        else:
            edits += _entry_edits(text, child, entry)
    if added:
        edits.append(_insertion(text, _content_end(text, children.value[-1]), _lines(added, lead)))
    return edits


def _entry_edits(text: str, child: Field, entry: Entry) -> list[Edit]:
    """Replace what differs; other keys and the comments stay."""
    key, node = child
    old = {} if _is_empty(node) else value_of(text, node)
    if not isinstance(old, dict) or node.anchor:
        raise ConfigError(f"The entry {key.value!r} uses syntax that cannot be changed safely.")
    changed = [
        field
        for field in {**old, **entry}
        if field not in old or field not in entry or old[field] != entry[field]
    ]
    if not changed:
        return []
    lead = " " * key.start_mark.column + STEP
    if node.id != "mapping" or node.flow_style:
        return _opened(text, child, _fields(entry, lead)) if entry else _emptied(child)
    edits = [_field_edits(text, node, field, entry) for field in changed if _find(node, field)]
    added = {field: entry[field] for field in changed if field in entry and not _find(node, field)}
    if added:
        lines = _fields(added, " " * node.start_mark.column)
        edits.append([_insertion(text, _content_end(text, node.value[-1]), lines)])
    if not entry:
        edits.append([(_colon(text, key), _colon(text, key), " {}")])
    return [edit for several in edits for edit in several]


def _field_edits(text: str, node: Node, name: str, entry: Entry) -> list[Edit]:
    field = _find(node, name)
    assert field is not None
    if name not in entry:
        return [_deletion(text, field)]
    key, value = field
    rendered = _value(entry[name])
    if _is_blank(value):
        return [(_colon(text, key), _colon(text, key), f" {rendered}")]
    if value.anchor:
        raise ConfigError(f"{name!r} has an anchor or an alias, and cannot be changed safely.")
    if _is_inline(value):
        return [(value.start_mark.index, value.end_mark.index, rendered)]
    # A block: the value goes to the line of its key, and the lines below that line go.
    start = _colon(text, key)
    below = _line_end(text, start)
    end = start if value.id != "scalar" else len(text[:below].rstrip("\n"))
    return [(start, end, f" {rendered}"), (below, _content_end(text, field), "")]


def _opened(text: str, field: Field, lines: str) -> list[Edit]:
    """Lines below a key instead of the value beside it; a comment there stays."""
    key, value = field
    start = _colon(text, key)
    if _is_blank(value):
        return [_insertion(text, _line_end(text, start), lines)]
    end = value.end_mark.index
    return [(start, end, ""), _insertion(text, _line_end(text, end), lines)]


def _emptied(field: Field) -> list[Edit]:
    return [(field[1].start_mark.index, field[1].end_mark.index, "{}")]


def _deletion(text: str, field: Field) -> Edit:
    key = field[0].start_mark.index
    start = _line_start(text, key)
    if text[start:key].strip():
        raise ConfigError(f"{field[0].value!r} does not begin a line of its own.")
    return start, _content_end(text, field), ""


def _insertion(text: str, place: int, lines: str) -> Edit:
    ended = place == 0 or text[place - 1] == "\n"
    return place, place, lines if ended else f"\n{lines}"


def _applied(text: str, edits: list[Edit]) -> str:
    for start, end, replacement in sorted(edits, reverse=True):
        text = text[:start] + replacement + text[end:]
    return text


def _find(node: Node | None, name: str) -> Field | None:
    return next((field for field in node.value if field[0].value == name), None) if node is not None else None


def _block(section: Field) -> Node:
    """The children of a section that has them on lines of their own; raises `ConfigError`."""
    key, node = section
    if not is_mapping(node) or node.flow_style or node.anchor:
        raise ConfigError(f"{key.value!r} does not have its entries on lines of their own.")
    return node


def _is_empty(node: Node) -> bool:
    """Null, or `{}`; with an anchor it means something elsewhere too."""
    if node.anchor:
        return False
    return node.tag.endswith(":null") if node.id == "scalar" else not node.value and is_mapping(node)


def _is_blank(node: Node) -> bool:
    """Null by writing nothing; its marks are those of the next key."""
    return bool(node.id == "scalar" and not node.value and not node.style and not node.anchor)


def _is_inline(node: Node) -> bool:
    return bool(node.style not in ("|", ">") if node.id == "scalar" else node.flow_style)


def _colon(text: str, key: Node) -> int:
    found = _COLON.match(text, key.end_mark.index)
    if found is None:
        raise ConfigError(f"{key.value!r} is not followed by a colon.")
    return found.end()


def _content_end(text: str, field: Field) -> int:
    """Where the lines of a field end, before empty lines and comments that are no deeper than its key."""
    key, value = field
    first = _colon(text, key)
    # The marks of an alias are those of its anchor, those of a blank value are those of the next key.
    elsewhere = value.start_mark.index < first or _is_blank(value)
    end = first if elsewhere else value.end_mark.index
    start = _line_start(text, end)
    end = start if not text[start:end].strip() else _line_end(text, end)
    while (start := _line_start(text, end - 1)) > first:
        line = text[start:end]
        indent = len(line) - len(line.lstrip(" "))
        if line.strip() and not (line.lstrip().startswith("#") and indent <= key.start_mark.column):
            break
        end = start
    return end


def _line_start(text: str, place: int) -> int:
    return text.rfind("\n", 0, place) + 1


def _line_end(text: str, place: int) -> int:
    """After the line's end, or the end of the text."""
    found = text.find("\n", place)
    return len(text) if found < 0 else found + 1


def _section_lines(name: str, entries: Mapping[str, Entry], lead: str) -> str:
    return f"{lead}{_key(name)}:\n{_lines(entries, lead + STEP)}"


def _lines(entries: Mapping[str, Entry], lead: str) -> str:
    return "".join(f"{lead}{_key(name)}:{_below(entry, lead)}" for name, entry in entries.items())


def _below(entry: Entry, lead: str) -> str:
    return f"\n{_fields(entry, lead + STEP)}" if entry else " {}\n"


def _fields(entry: Entry, lead: str) -> str:
    return "".join(f"{lead}{_key(key)}: {_value(value)}\n" for key, value in entry.items())


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else _value(key)


def _value(value: Any) -> str:
    """JSON on one line, which is YAML too."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except TypeError:
        raise ConfigError("A value of the entry cannot be written as YAML.") from None
    return _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
