"""Parses YAML into nodes with ruamel.yaml, and turns nodes into plain data.

No tag constructs anything, and aliases cannot make the data much larger than the text. ruamel.yaml is
imported with the first text that is not empty.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from toolcrib.errors import ConfigError
from toolcrib.features.clients.files.client import OpaqueValue

Node = Any
"""A node of ruamel.yaml, whose classes declare too few of their attributes to check."""
MAX_CHARACTERS = 128 * 1024
"""One to five seconds of parsing; the config files of clients are about a tenth of it."""
MAX_FLOW_DEPTH = 20
SPARE_CHARACTERS = 10_000
"""How much aliases may add to a short document."""
_STREAM_MARK = re.compile(r"^(?:\.\.\.|%)", re.MULTILINE)
_CORE = "tag:yaml.org,2002:"
_TEXTS = ("str", "timestamp", "value", "merge")
_NOT_INDENTED = re.compile(r"\n(?=[^ \t\r\n])")


@lru_cache(maxsize=2)
def parse(text: str) -> Node | None:
    """The root mapping, or None for an empty document; raises `ConfigError`.

    Cached because planning and checking an edit look at the same two texts.
    """
    if not text.strip():
        return None
    if len(text) > MAX_CHARACTERS:
        raise ConfigError("The file is too large for a YAML config file.")
    if _STREAM_MARK.search(text):
        raise ConfigError("The file uses YAML directives or document ends.")
    root = _compose(text)
    if root is not None and not is_mapping(root):
        raise ConfigError("The file is not a YAML mapping.")
    return root


def _compose(text: str) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    yaml = YAML(typ="safe", pure=True)
    yaml.Scanner = _bounded_scanner()
    try:
        return yaml.compose(text)
    except MarkedYAMLError as error:
        # The library's own message quotes the file, which may hold secrets.
        line = f" (line {error.problem_mark.line + 1})" if error.problem_mark else ""
        raise ConfigError(f"The file is not one valid YAML document{line}.") from None
    except (YAMLError, RecursionError, ValueError):
        raise ConfigError("The file is not valid YAML.") from None


@cache
def _bounded_scanner() -> Any:
    """A scanner with a limit on nested brackets: its time grows with the square of their depth."""
    from ruamel.yaml.scanner import Scanner

    class BoundedScanner(Scanner):
        def fetch_flow_collection_start(self, *arguments: Any, **options: Any) -> None:
            if len(self.flow_context) >= MAX_FLOW_DEPTH:
                raise ConfigError("The file is nested too deeply.")
            super().fetch_flow_collection_start(*arguments, **options)

    return BoundedScanner


def is_mapping(node: Node) -> bool:
    """Whether a node is a mapping without a tag of its own."""
    return bool(node.id == "mapping" and node.tag == f"{_CORE}map")


def value_of(text: str, node: Node) -> Any:
    """The plain data of a node; raises `ConfigError`."""
    try:
        return _Reader(text).value(node)
    except RecursionError:
        raise ConfigError("The file is nested too deeply.") from None


class _Reader:
    """Turns nodes into data; a budget of characters bounds what aliases repeat."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._left = len(text) + SPARE_CHARACTERS

    def value(self, node: Node) -> Any:
        """The data of one node."""
        self._spend(node)
        if node.id == "scalar":
            return self._scalar(node)
        if node.id == "sequence" and node.tag == f"{_CORE}seq":
            return [self.value(child) for child in node.value]
        found = self._mapping(node) if is_mapping(node) else None
        return OpaqueValue(self._source(node).rstrip()) if found is None else found

    def _spend(self, node: Node) -> None:
        self._left -= 1 + (len(node.value) if node.id == "scalar" else 0)
        if self._left < 0:
            raise ConfigError("The aliases of the file repeat too much.")

    def _mapping(self, node: Node) -> dict[str, Any] | None:
        """None for keys that plain data cannot have: collections, and the same one twice."""
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key, value in node.value:
            if key.id != "scalar" or key.value in own:
                return None
            if key.tag != f"{_CORE}merge":
                own[key.value] = self.value(value)
            elif not self._merge(merged, value):
                return None
        return {**merged, **own}

    def _merge(self, into: dict[str, Any], node: Node) -> bool:
        """Add what `<<` names, the first one winning; False unless it is a mapping or a list of mappings."""
        found = self.value(node)
        for table in found if isinstance(found, list) else [found]:
            if not isinstance(table, dict):
                return False
            into.update({key: value for key, value in table.items() if key not in into})
        return True

    def _scalar(self, node: Node) -> Any:
        """JSON's kinds of values; dates and the like stay the text they are."""
        if node.style in ("'", '"') and _NOT_INDENTED.search(self._source(node)):
            raise ConfigError("A quoted text continues at the start of a line, which YAML does not allow.")
        text = str(node.value)
        if node.style in ("|", ">"):
            return text.rstrip("\n")
        kind = node.tag.removeprefix(_CORE)
        if kind in ("int", "float"):
            return _number(text)
        if kind == "bool":
            return text.lower() == "true"
        if kind == "null":
            return None
        return text if kind in _TEXTS else OpaqueValue(f"{node.tag} {text}")

    def _source(self, node: Node) -> str:
        return self._text[node.start_mark.index : node.end_mark.index]


def _number(text: str) -> int | float | str:
    """The number; text where that would lose how it is written, as in `1.10`, `0755` and `.inf`."""
    for read in (int, float):
        try:
            found = read(text)
        except ValueError:
            continue
        if str(found) == text:
            return found
    return text
