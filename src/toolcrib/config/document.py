"""The config file as text and as data: parsing keeps positions, rendering keeps order and unknown keys.

Comments are skipped, and lost when the file is rewritten; the store keeps a copy for that case.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from toolcrib.config.json_parser import KeyPath, Parser, error_at, parse_plainly, position
from toolcrib.errors import ConfigError


@dataclass(frozen=True)
class Document:
    """A parsed file: its data, and the position of each key."""

    name: str
    data: dict[str, Any]
    text: str = field(repr=False)
    commented: bool

    @cached_property
    def offsets(self) -> Mapping[KeyPath, int]:
        """The position of each key and item; computed only for an error message."""
        parser = Parser(self.text, self.name)
        parser.parse()
        return parser.offsets

    def error(self, path: KeyPath, message: str, hint: str = "") -> ConfigError:
        """An error about the value at `path`, with line and column of the nearest key that is known."""
        return error_at(self.text, self._offset(path), self.name, message.rstrip("."), hint)

    def locate(self, path: KeyPath) -> tuple[int, int]:
        """Line and column of the key at `path`, or of the nearest one above it."""
        return position(self.text, self._offset(path))

    def _offset(self, path: KeyPath) -> int:
        while path:
            if path in self.offsets:
                return self.offsets[path]
            path = path[:-1]
        return 0


def parse_document(content: bytes | str, name: str = "mcp.json") -> Document:
    """Read a file's content; raises `ConfigError` with line and column."""
    text = content if isinstance(content, str) else _decode(content, name)
    text = text.removeprefix("\ufeff")
    data, commented = parse_plainly(text), False
    if data is None:
        parser = Parser(text, name)
        data, commented = parser.parse(), parser.commented
    if not isinstance(data, dict):
        raise error_at(text, 0, name, "expected an object: { … }")
    return Document(name=name, data=data, text=text, commented=commented)


def render_document(data: Mapping[str, Any]) -> bytes:
    """The text of a file, in UTF-8; raises `ConfigError` for what JSON cannot hold."""
    try:
        text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
        return f"{text}\n".encode()
    except (TypeError, ValueError, RecursionError):
        # Without its cause, which may hold the whole text.
        raise ConfigError(
            "The config would contain a value that JSON does not support.",
            hint="Use text, finite numbers, true, false, null, lists and objects.",
        ) from None


def _decode(content: bytes, name: str) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        content = content.decode("utf-16", "replace").encode("utf-8", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8", "replace")
        raise error_at(before, len(before), name, "this is not UTF-8", "Save the file as UTF-8.") from None
