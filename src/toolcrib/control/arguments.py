"""Words of a command line, or fields of a form, into a tool's arguments: typed by the tool's own schema.

What does not fit its type stays text, so that the door's check says what is wrong with it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from toolcrib.errors import UsageError

_INTEGER = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_ANY = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_LONGEST_NUMBER = 400
"""Characters; a longer one is left to the tool as text rather than computed."""


class Word(BaseModel):
    """One argument: `text` is typed by the schema, `value` is taken as it is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    text: str | None = None
    value: Any = None


def typed_arguments(schema: Mapping[str, Any], words: Iterable[Word]) -> dict[str, Any]:
    """The arguments; a repeated key gives a list where the schema has one, else raises `UsageError`."""
    reader = _Reader(schema)
    given: dict[str, list[Word]] = {}
    for word in words:
        given.setdefault(word.key, []).append(word)
    return {key: reader.read(key, same) for key, same in given.items()}


class _Reader:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        properties = root.get("properties")
        self._properties = properties if isinstance(properties, Mapping) else {}

    def read(self, key: str, words: list[Word]) -> Any:
        schema = self._resolve(self._properties.get(key, self._root.get("additionalProperties")))
        if len(words) == 1 and words[0].text is None:
            return words[0].value
        types = self._types(schema)
        if len(words) == 1 and ("array" not in types or "string" in types):
            return self._typed(words[0].text or "", types, schema)
        if "array" not in types:
            raise UsageError(
                f"{key} was given {len(words)} times, and takes one value.", hint=f"Give {key} once."
            )
        return self._items(words, schema)

    def _items(self, words: list[Word], schema: Mapping[str, Any]) -> Any:
        if len(words) == 1 and isinstance(whole := _json(words[0].text or ""), list):
            return whole
        item = self._resolve(schema.get("items"))
        types = self._types(item)
        return [word.value if word.text is None else self._typed(word.text, types, item) for word in words]

    def _typed(self, text: str, types: frozenset[str], schema: Mapping[str, Any]) -> Any:
        for choice in schema.get("enum") or ():
            if text == choice or (not isinstance(choice, str) and text == json.dumps(choice)):
                return choice
        for kind, read in _UNION_READERS if "string" in types else _READERS:
            if kind in types and (value := read(text)) is not _UNREAD:
                return value
        if "null" in types and "string" not in types and text == "null":
            return None
        return text

    def _types(self, schema: Mapping[str, Any], depth: int = 0) -> frozenset[str]:
        """The JSON types that a value may have; all of them when the schema does not say."""
        stated = schema.get("type")
        if isinstance(stated, str):
            return frozenset({stated})
        if isinstance(stated, list):
            return frozenset(kind for kind in stated if isinstance(kind, str))
        branches = [*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())]
        if branches and depth < 8:
            return frozenset().union(*(self._types(self._resolve(one), depth + 1) for one in branches))
        return _ANY if schema.get("enum") is None else frozenset({"string"})

    def _resolve(self, schema: Any) -> Mapping[str, Any]:
        """The schema behind a local reference; an empty one for what cannot be followed."""
        for _ in range(8):
            if not isinstance(schema, Mapping):
                return {}
            reference = schema.get("$ref")
            if not isinstance(reference, str) or not reference.startswith("#/"):
                return schema
            schema = self._root
            for part in reference[2:].split("/"):
                key = part.replace("~1", "/").replace("~0", "~")
                schema = schema.get(key) if isinstance(schema, Mapping) else None
        return {}


_UNREAD = object()


def _integer(text: str) -> Any:
    if len(text) <= _LONGEST_NUMBER and _INTEGER.fullmatch(text):
        return int(text)
    return _UNREAD


def _number(text: str) -> Any:
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        return _UNREAD
    value = float(text)
    return value if math.isfinite(value) else _UNREAD


def _boolean(text: str) -> Any:
    word = text.lower()
    if word in _TRUE:
        return True
    return False if word in _FALSE else _UNREAD


def _strict_boolean(text: str) -> Any:
    return {"true": True, "false": False}.get(text, _UNREAD)


def _array(text: str) -> Any:
    value = _json(text)
    return value if isinstance(value, list) else _UNREAD


def _object(text: str) -> Any:
    value = _json(text)
    return value if isinstance(value, dict) else _UNREAD


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _UNREAD


_READERS = (
    ("integer", _integer),
    ("number", _integer),
    ("number", _number),
    ("boolean", _boolean),
    ("array", _array),
    ("object", _object),
)
"""In this order: `1` is a number before it is a yes."""
_UNION_READERS = tuple(("boolean", _strict_boolean) if one[0] == "boolean" else one for one in _READERS)
"""Where text is welcome too, `yes` is text."""
