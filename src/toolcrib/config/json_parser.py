"""Reads JSON as written by hand: comments and trailing commas are allowed, every key's position is kept. Has
the error messages about JSON, with line, column and excerpt.

Stricter than most parsers: a duplicate key is an error, as are `NaN`, numbers that are too large and halves
of surrogate pairs. Errors have line and column and show the line without its values, so that a token in the
file never reaches a log.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

from toolcrib.errors import ConfigError

KeyPath = tuple[str | int, ...]

MAX_DEPTH = 100
EXCERPT_REACH = 40
"""Characters shown on either side of the place."""

LONG_NUMBER = 300
"""Characters from which on a number may be more than can be held."""
_BLANK = re.compile(r"[ \t\r\n]+|//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?(?![\w.])")
_WORD = re.compile(r"[A-Za-z]+")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_BLOT = "•"
_PRIVATE = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?$)(?P<key>\s*:)?|[^\s"{}\[\],:]{12,}')


@dataclass
class Parser:
    """One pass over a text; `offsets` holds the position of each key and item."""

    text: str
    name: str
    offset: int = 0
    commented: bool = False
    offsets: dict[KeyPath, int] = field(default_factory=dict)

    def parse(self) -> Any:
        """The value of the whole text."""
        self._skip()
        if self.offset == len(self.text):
            self._fail("the file is empty")
        value = self._value(())
        self._skip()
        if self.offset < len(self.text):
            self._fail("unexpected text after the end")
        return value

    def _value(self, path: KeyPath) -> Any:
        if len(path) > MAX_DEPTH:
            self._fail(f"nested more than {MAX_DEPTH} deep")
        character = self.text[self.offset : self.offset + 1]
        if character == "{":
            return self._object(path)
        if character == "[":
            return self._array(path)
        if character == '"':
            return self._string()
        if character == "-" or character.isdecimal():
            return self._number()
        return self._word()

    def _object(self, path: KeyPath) -> dict[str, Any]:
        result: dict[str, Any] = {}
        self._step()
        while not self._take("}"):
            key = self._key(path, result)
            if not self._take(":"):
                self._fail(f"expected ':' after {key!r}")
            result[key] = self._value((*path, key))
            self._end_item("}")
        return result

    def _array(self, path: KeyPath) -> list[Any]:
        result: list[Any] = []
        self._step()
        while not self._take("]"):
            here = (*path, len(result))
            self.offsets[here] = self.offset
            result.append(self._value(here))
            self._end_item("]")
        return result

    def _key(self, path: KeyPath, known: dict[str, Any]) -> str:
        start = self.offset
        if self.text[start : start + 1] != '"':
            self._fail("expected a key in double quotes")
        key = self._string()
        if key in known:
            self._fail(f"{key!r} is a duplicate key", start)
        self.offsets[(*path, key)] = start
        self._skip()
        return key

    def _string(self) -> str:
        match = _STRING.match(self.text, self.offset)
        if match is None:
            self._fail("this text has no closing quote")
        try:
            value: str = json.loads(match.group())
        except json.JSONDecodeError as error:
            self._fail(error.msg[0].lower() + error.msg[1:], self.offset + error.pos)
        if any("\ud800" <= character <= "\udfff" for character in value):
            self._fail("the text contains half of a surrogate pair")
        self.offset = match.end()
        return value

    def _number(self) -> int | float:
        match = _NUMBER.match(self.text, self.offset)
        if match is None:
            self._fail("this is not a JSON number")
        whole = match.group(1) is None and match.group(2) is None
        if whole and len(match.group()) > LONG_NUMBER:
            self._fail("the number is too large")
        value = int(match.group()) if whole else float(match.group())
        if math.isinf(value):
            self._fail("the number is too large")
        self.offset = match.end()
        return value

    def _word(self) -> bool | None:
        match = _WORD.match(self.text, self.offset)
        if match is None or match.group() not in _WORDS:
            self._fail("expected a value: text in double quotes, a number, true, false, null, [ or {")
        self.offset = match.end()
        return _WORDS[match.group()]

    def _end_item(self, closing: str) -> None:
        """After an item: a comma, or the end, which is left for the loop to take."""
        self._skip()
        if self._take(",") or self.text[self.offset : self.offset + 1] == closing:
            return
        self._fail(f"expected ',' or '{closing}'")

    def _take(self, character: str) -> bool:
        if self.text[self.offset : self.offset + 1] != character:
            return False
        if character in "}]":
            self.offset += 1
        else:
            self._step()
        return True

    def _step(self) -> None:
        self.offset += 1
        self._skip()

    def _skip(self) -> None:
        while match := _BLANK.match(self.text, self.offset):
            self.commented = self.commented or match.group().startswith("/")
            self.offset = match.end()
        if self.text.startswith("/*", self.offset):
            self._fail("this comment is never closed")

    def _fail(self, message: str, offset: int | None = None) -> NoReturn:
        raise error_at(self.text, self.offset if offset is None else offset, self.name, message) from None


def parse_plainly(text: str) -> Any:
    """The value of a text that is plain JSON beyond doubt, much faster; None where `Parser` has to decide."""
    if "\\u" in text:
        return None
    try:
        value = json.loads(
            text,
            object_pairs_hook=_without_doubles,
            parse_int=_short,
            parse_float=_finite,
            parse_constant=_refuse,
        )
    except (ValueError, RecursionError):
        return None
    return None if _deeper(value, MAX_DEPTH) else value


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a duplicate key")
    return found


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)


def _short(digits: str) -> int:
    if len(digits) >= LONG_NUMBER:
        raise ValueError("a number that is long")
    return int(digits)


def _finite(digits: str) -> float:
    if len(digits) >= LONG_NUMBER or "e" in digits or "E" in digits:
        raise ValueError("a number that may have no end")
    return float(digits)


def _deeper(value: Any, levels: int) -> bool:
    """Whether anything is nested deeper than this; layer by layer, without a call for every item."""
    layer = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        if not layer:
            return False
        items = (
            item
            for container in layer
            for item in (container.values() if isinstance(container, dict) else container)
        )
        layer = [item for item in items if isinstance(item, dict | list)]
    return any(layer)


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both counted from one."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def error_at(text: str, offset: int, name: str, message: str, hint: str = "") -> ConfigError:
    """An error that says where, and shows the line it means."""
    line, column = position(text, offset)
    shown = excerpt(text, offset)
    return ConfigError(
        f"{name}, line {line}, column {column}: {message}." + (f" Near: {shown}" if shown else ""),
        hint=hint or f"Fix line {line} of {name}.",
        line=line,
        column=column,
    )


def excerpt(text: str, offset: int) -> str:
    """The part of the line around `offset` on one line; keys are shown, values only as `…`."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    line = _PRIVATE.sub(_blot, text[start : len(text) if end < 0 else end])
    left = max(0, offset - start - EXCERPT_REACH)
    part = line[left : offset - start + EXCERPT_REACH]
    shown = re.sub(_BLOT + "+", "…", part)
    return "".join(character if character.isprintable() else " " for character in shown).strip()


def _blot(match: re.Match[str]) -> str:
    """The same length of nothing, quotes kept; keys stay readable."""
    found = match.group()
    if match.group("key"):
        return found
    if not found.startswith('"'):
        return _BLOT * len(found)
    closed = len(found) > 1 and found.endswith('"')
    return '"' + _BLOT * (len(found) - 1 - closed) + ('"' if closed else "")
