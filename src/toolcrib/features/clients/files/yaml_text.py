"""Edits YAML files of clients: ruamel.yaml says where an entry is, and only those characters are replaced.
Limits: longest file, nesting, aliases; refuses syntax that cannot be changed safely.

Its own writer is not used: it normalizes spacing, quotes and line breaks of the whole file.

Parses YAML into nodes with ruamel.yaml, and turns nodes into plain data. No tag constructs anything, and
aliases cannot make the data much larger than the text. ruamel.yaml is imported with the first text that is
not empty.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from toolcrib.config.drafts import Table
from toolcrib.errors import ConfigError
from toolcrib.features.clients.files.client import Entry, OpaqueValue

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

STEP = "  "
_PLAIN_KEY = re.compile(r"(?!(?:yes|no|on|off|true|false|null)$)[A-Za-z_][A-Za-z0-9_./-]*", re.IGNORECASE)
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
"""JSON allows these unescaped; YAML does not, or reads a line break."""
_COLON = re.compile(r"[ \t]*:")

Field = tuple[Node, Node]
"""A key and its value."""
Edit = tuple[int, int, str]
"""From where to where the text is replaced, and by what."""

_CORRECT = "Correct it in an editor that marks errors in YAML, and try again."


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
        raise ConfigError(f"The file is not one valid YAML document{line}.", hint=_CORRECT) from None
    except (YAMLError, RecursionError, ValueError):
        raise ConfigError("The file is not valid YAML.", hint=_CORRECT) from None


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
