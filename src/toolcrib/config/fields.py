"""Reads typed values out of one config entry; an error names the server and the key, never the value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NoReturn

from toolcrib.config.parsing import KeyPath
from toolcrib.errors import ConfigError


class EntryError(ConfigError):
    """One entry is wrong; `path` says where inside it."""

    def __init__(self, message: str, *, path: KeyPath = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.path = path


class Fields:
    """The keys of an object in the entry of a server. `null` counts as absent throughout."""

    def __init__(self, server: str, raw: Mapping[str, Any], path: KeyPath = ()) -> None:
        self._server = server
        self._raw = raw
        self._path = path

    def first(self, *keys: str) -> str | None:
        """The first of these keys that is there."""
        return next((key for key in keys if self._raw.get(key) is not None), None)

    def names(self) -> tuple[str, ...]:
        """The keys that are there."""
        return tuple(key for key, value in self._raw.items() if value is not None)

    def text(self, key: str) -> str | None:
        """Text that is not empty."""
        value = self._raw.get(key)
        if value is None or (isinstance(value, str) and value):
            return value
        return self.fail(key, "text that is not empty")

    def flag(self, default: bool, *keys: str) -> bool:
        """True or false."""
        key = self.first(*keys)
        if key is None:
            return default
        value = self._raw[key]
        if isinstance(value, bool):
            return value
        return self.fail(key, "true or false")

    def number(self, default: float, *keys: str, least: float = 0.0, most: float = math.inf) -> float:
        """A number within bounds."""
        key = self.first(*keys)
        if key is None:
            return default
        value = self._raw[key]
        if not isinstance(value, bool) and isinstance(value, int | float) and least <= value <= most:
            return value
        return self.fail(key, range_words(least, most))

    def texts(self, *keys: str) -> tuple[str, ...]:
        """The lists of text under all of these keys, one after the other, each text once."""
        found: dict[str, None] = {}
        for key in keys:
            value = self._raw.get(key)
            if value is None:
                continue
            if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                self.fail(key, "a list of text")
            found.update(dict.fromkeys(value))
        return tuple(found)

    def mapping(self, key: str, *, numbers: bool = False) -> None:
        """Check an object of text; with `numbers`, also of numbers and nulls."""
        section = self.section(key)
        if section is None:
            return
        for inner, value in section._raw.items():
            number = isinstance(value, int | float | None) and not isinstance(value, bool)
            if not isinstance(value, str) and not (numbers and number):
                section.fail(inner, "text")

    def section(self, key: str) -> Fields | None:
        """The object under a key."""
        value = self._raw.get(key)
        if value is None:
            return None
        if isinstance(value, Mapping):
            return Fields(self._server, value, (*self._path, key))
        return self.fail(key, "an object: { … }")

    def kind(self, key: str) -> str:
        """What stands under a key, in a word."""
        return describe(self._raw.get(key))

    def fail(self, key: str, expected: str) -> NoReturn:
        """Raise an error that names server and key."""
        path = (*self._path, key)
        found = self.kind(key)
        instead = "" if expected.startswith(found) else f", not {found}"
        raise EntryError(
            f"Server {self._server!r}: {'.'.join(map(str, path))} must be {expected}{instead}.",
            path=path,
            hint=f"Mend the entry of {self._server!r}.",
        )


def describe(value: object) -> str:
    """A JSON value's kind in a word; the value itself may be a secret."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "an object"


def range_words(least: float, most: float) -> str:
    if most == math.inf:
        return f"a number of at least {least:g}"
    return f"a number between {least:g} and {most:g}"
