"""Reads the part of YAML that config entries are written in, and refuses everything else.

Block mappings, lists of scalars, flow collections and scalars on one line. Anchors, tags, texts over several
lines and the like raise `Unreadable`: whoever asks must then leave the text alone.
"""

from __future__ import annotations

import json
import re
from typing import Any

KEY = re.compile(
    r"""(?P<key>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s\-?:,\[\]{}#&*!|>'"%@`][^:#{}\[\],]*?|-[^\s:#]+)\s*:(?=\s|$)"""
)
_COMMENT = re.compile(r"\s+#.*$|^#.*$")
_QUOTED = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^']|'')*'""")
_PLAIN = re.compile(
    r"(?:[^\s\[\]{},:#&*!|>'\"%@`-]|[-:](?=[^\s,\[\]{}]))(?:[^,\[\]{}:#\n]|:(?=[^\s,\[\]{}])|(?<=\S)#)*"
)
_NUMBER = re.compile(r"[-+]?\d+")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}

Line = tuple[int, str]
"""Indentation and what follows it."""


class Unreadable(ValueError):
    """More YAML than is understood here."""


def read_block(lines: list[str]) -> Any:
    """The value of these lines, a mapping or a list."""
    kept = [(len(line) - len(line.lstrip(" ")), line.strip()) for line in lines]
    kept = [(indent, text) for indent, text in kept if text and not text.startswith("#")]
    if any("\t" in text for _, text in kept):
        raise Unreadable("a tab")
    return _block(kept) if kept else None


def read_key(text: str) -> tuple[str, str] | None:
    """The key that a line begins with, and what stands after its colon."""
    match = KEY.match(text)
    if match is None:
        return None
    return str(_scalar(match["key"], as_key=True)), text[match.end() :].strip()


def read_inline(text: str) -> Any:
    """The value that stands on a key's own line; a comment after it is read over."""
    value, end = _flow(text, 0, nested=False)
    left = text[end:]
    if left.strip() and not _COMMENT.fullmatch(left):
        raise Unreadable(left)
    return value


def _block(lines: list[Line]) -> Any:
    indent = lines[0][0]
    return _sequence(lines) if lines[0][1].startswith("- ") else _mapping(lines, indent)


def _sequence(lines: list[Line]) -> list[Any]:
    if any(indent != lines[0][0] or not text.startswith("- ") for indent, text in lines):
        raise Unreadable("a list of more than scalars")
    texts = [text[2:].strip() for _, text in lines]
    if any(KEY.match(text) for text in texts):
        raise Unreadable("a list of mappings")
    return [read_inline(text) for text in texts]


def _mapping(lines: list[Line], indent: int) -> dict[str, Any]:
    result: dict[str, Any] = {}
    place = 0
    while place < len(lines):
        depth, text = lines[place]
        found = read_key(text)
        if depth != indent or found is None or found[0] in result:
            raise Unreadable(text)
        key, value = found
        place += 1
        inside = []
        while place < len(lines) and _belongs(lines[place], indent):
            inside.append(lines[place])
            place += 1
        bare = not value or value.startswith("#")
        if inside and not bare:
            raise Unreadable("a text over several lines")
        result[key] = (_block(inside) if inside else None) if bare else read_inline(value)
    return result


def _belongs(line: Line, indent: int) -> bool:
    """Deeper than its key; the items of a list may stand as deep as it."""
    return line[0] > indent or (line[0] == indent and line[1].startswith("- "))


def _flow(text: str, start: int, *, nested: bool) -> tuple[Any, int]:
    opening = text[start : start + 1]
    if opening == "[":
        return _items(text, start + 1)
    if opening == "{":
        return _pairs(text, start + 1)
    quoted = _QUOTED.match(text, start)
    if quoted:
        return _scalar(quoted.group()), quoted.end()
    return _plain(text, start, nested)


def _plain(text: str, start: int, nested: bool) -> tuple[Any, int]:
    pattern = _PLAIN if nested else re.compile(r"(?![&*!|>%@`\"'\[\]{},#?]|[-:](?:\s|$)).+?(?=\s+#|\s*$)")
    match = pattern.match(text, start)
    if match is None or (not nested and re.search(r":(\s|$)", match.group())):
        raise Unreadable(text[start:])
    return _scalar(match.group().strip()), match.end()


def _items(text: str, place: int) -> tuple[list[Any], int]:
    result: list[Any] = []
    while (place := _skip(text, place)) < len(text):
        if text[place] == "]":
            return result, place + 1
        value, place = _flow(text, place, nested=True)
        result.append(value)
        place = _part(text, place, "]")
    raise Unreadable("a list that goes on")


def _pairs(text: str, place: int) -> tuple[dict[str, Any], int]:
    result: dict[str, Any] = {}
    while (place := _skip(text, place)) < len(text):
        if text[place] == "}":
            return result, place + 1
        key, place = _flow(text, place, nested=True)
        place = _skip(text, place)
        if text[place : place + 1] != ":" or not isinstance(key, str) or key in result:
            raise Unreadable(text)
        result[key], place = _flow(text, _skip(text, place + 1), nested=True)
        place = _part(text, place, "}")
    raise Unreadable("a mapping that goes on")


def _part(text: str, place: int, closing: str) -> int:
    place = _skip(text, place)
    if text[place : place + 1] == ",":
        return place + 1
    if text[place : place + 1] == closing:
        return place
    raise Unreadable(text[place:])


def _skip(text: str, place: int) -> int:
    while place < len(text) and text[place] == " ":
        place += 1
    return place


def _scalar(text: str, *, as_key: bool = False) -> Any:
    if text.startswith('"'):
        try:
            return json.loads(text)
        except ValueError:
            raise Unreadable("an escape that JSON does not know") from None
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    if as_key:
        return text
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    return int(text) if _NUMBER.fullmatch(text) and len(text) < 100 else text
