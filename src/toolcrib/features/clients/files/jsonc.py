"""Edits JSON files of clients in place, as editors write them: comments, order, indentation and trailing
commas stay.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from toolcrib.config.drafts import Table
from toolcrib.config.json_parser import KeyPath, Parser
from toolcrib.errors import ConfigError
from toolcrib.features.clients.files.client import Entry, entries_in

UNIT = "  "
_NOTHING = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SPACE = " \t\r\n"


@dataclass
class _Text(Parser):
    """A parsed text that also knows from where to where each value reaches."""

    spans: dict[KeyPath, tuple[int, int]] = field(default_factory=dict)
    data: Any = None

    def _value(self, path: KeyPath) -> Any:
        start = self.offset
        value = super()._value(path)
        self.spans[path] = (start, self.offset)
        return value

    def members(self, path: KeyPath) -> list[KeyPath]:
        """The keys of an object, in order."""
        inside = [place for place in self.spans if len(place) == len(path) + 1 and place[:-1] == path]
        return sorted(inside, key=lambda place: self.spans[place])

    def is_open(self, path: KeyPath) -> bool:
        """Whether an object is, or should be, written over several lines."""
        start, end = self.spans[path]
        members = self.members(path)
        if members:
            return "\n" in self.text[start : self.offsets[members[0]]]
        return "\n" in self.text[start:end] or path == () or self.is_open(path[:-1])

    @property
    def unit(self) -> str:
        """One step of indentation."""
        first = self.members(())
        return (indentation(self.text, self.offsets[first[0]]) if first else "") or UNIT


def read(text: str) -> dict[str, Any]:
    """The document; a file without a value counts as an empty object."""
    return dict(_parse(text).data)


def set_entries(text: str, table: Table, entries: Mapping[str, Entry]) -> str:
    """The text with the entries; of one that is there, only what differs is touched."""
    for name, entry in entries.items():
        text = _set_entry(text, table, name, entry)
    return text


def _set_entry(text: str, table: Table, name: str, entry: Entry) -> str:
    if _NOTHING.fullmatch(text):
        return f"{text}{_document(table, name, entry)}\n"
    old = entries_in(read(text), table).get(name)
    if not isinstance(old, dict) or not old:
        return _set(text, (*table, name), entry)
    for key in [key for key in old if key not in entry]:
        text = _delete(text, (*table, name, key))
    for key, value in entry.items():
        if key not in old or old[key] != value:
            text = _set(text, (*table, name, key), value)
    return text


def remove_entry(text: str, table: Table, name: str) -> str:
    """The text without the entry."""
    return _delete(text, (*table, name))


def _document(table: Table, name: str, entry: Entry) -> str:
    value: Any = {name: entry}
    for key in reversed(table):
        value = {key: value}
    return json.dumps(value, indent=UNIT, ensure_ascii=False)


@lru_cache(maxsize=3)
def _parse(text: str) -> _Text:
    """The text, understood; kept for a while, since planning and checking look at the same texts."""
    if _NOTHING.fullmatch(text):
        return _Text(text, "the file", data={})
    parsed = _Text(text, "the file")
    parsed.data = parsed.parse()
    if not isinstance(parsed.data, dict):
        raise ConfigError("The file is not a JSON object: { … }.")
    return parsed


def _set(text: str, path: KeyPath, value: Any) -> str:
    parsed = _parse(text)
    if path in parsed.spans:
        start, end = parsed.spans[path]
        compact = "\n" not in text[start:end]
        return text[:start] + _render(value, parsed, indentation(text, start), compact) + text[end:]
    above = path[:-1]
    while above not in parsed.spans:
        value = {path[len(above)]: value}
        above = above[:-1]
    return _insert(parsed, above, str(path[len(above)]), value)


def _insert(parsed: _Text, above: KeyPath, key: str, value: Any) -> str:
    """A new member at the end of an object; a comment on the last line stays with what it speaks of."""
    text, (start, end) = parsed.text, parsed.spans[above]
    if text[start] != "{":
        raise ConfigError(f"{'.'.join(map(str, above))!r} is not an object.")
    opened, members = parsed.is_open(above), parsed.members(above)
    own = indentation(text, start)
    indent = (
        indentation(text, parsed.offsets[members[0]]) if members and opened else ""
    ) or own + parsed.unit
    member = f"{json.dumps(key, ensure_ascii=False)}: {_render(value, parsed, indent, not opened)}"
    lead = f"\n{indent}" if opened else " "
    if not members:
        if not opened:
            return text[: start + 1] + member + text[start + 1 :]
        return f"{text[: end - 1].rstrip(_SPACE)}\n{indent}{member}\n{own}{text[end - 1 :]}"
    last = parsed.spans[members[-1]][1]
    stop = last + len(text[last : end - 1].rstrip(_SPACE))
    if _comma_after(text, last) is not None:
        return f"{text[:stop]}{lead}{member},{text[stop:]}"
    return f"{text[:last]},{text[last:stop]}{lead}{member}{text[stop:]}"


def _delete(text: str, path: KeyPath) -> str:
    parsed = _parse(text)
    if path not in parsed.spans:
        return text
    start, end = len(text[: parsed.offsets[path]].rstrip(_SPACE)), parsed.spans[path][1]
    members = parsed.members(path[:-1])
    place = members.index(path)
    comma = _comma_after(text, end)
    if comma is not None:
        shorter = text[:start] + text[comma + 1 :]
    elif place:
        before = _comma_after(text, parsed.spans[members[place - 1]][1])
        assert before is not None
        shorter = text[:before] + text[before + 1 : start] + text[end:]
    else:
        shorter = text[:start] + text[end:]
    return _collapsed(shorter, parsed.spans[path[:-1]][0]) if len(members) == 1 else shorter


def _collapsed(text: str, start: int) -> str:
    """The object that begins here as `{}`, when nothing but space is left in it."""
    end = text.find("}", start)
    return text if text[start + 1 : end].strip(_SPACE) else text[: start + 1] + text[end:]


def _comma_after(text: str, offset: int) -> int | None:
    blank = _NOTHING.match(text, offset)
    assert blank is not None
    return blank.end() if text[blank.end() : blank.end() + 1] == "," else None


def _render(value: Any, parsed: _Text, indent: str, compact: bool) -> str:
    if compact:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, indent=parsed.unit, ensure_ascii=False).replace("\n", f"\n{indent}")


def indentation(text: str, offset: int) -> str:
    """The space at the beginning of the line that `offset` is on."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line[: len(line) - len(line.lstrip(" \t"))]
