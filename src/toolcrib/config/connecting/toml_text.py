"""TOML changed in place, statement by statement: comments and everything else stay.

The standard library reads TOML and cannot write it. So a statement is the fewest lines that it can read; what
stands in strings over several lines is never taken for a table.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from toolcrib.config.connecting.client import Entry, Table
from toolcrib.errors import ConfigError

_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class _Statement:
    """A line or several: a table's header, a key and its value, or neither."""

    text: str
    header: tuple[str, ...] | None = None
    key: str = ""

    @property
    def is_blank(self) -> bool:
        return self.header is None and not self.key


def entries(text: str, table: Table) -> dict[str, Any]:
    """The entries by name."""
    found: Any = _load(text)
    for key in table:
        found = found.get(key, {})
        if not isinstance(found, dict):
            raise ConfigError(f"{key!r} is no table.")
    return dict(found)


def rest(text: str, table: Table, name: str) -> Any:
    """The data without the entry; a table that is empty counts as none."""
    data = _load(text)
    chain: list[Any] = [data]
    for key in table:
        chain.append(chain[-1].get(key, {}))
    chain[-1].pop(name, None)
    for depth in range(len(table) - 1, -1, -1):
        if chain[depth].get(table[depth]) == {}:
            del chain[depth][table[depth]]
    return data


def put(text: str, table: Table, name: str, entry: Entry) -> str:
    """The text with the entry: at the end, or changed where it stands."""
    old = entries(text, table).get(name)
    if old is None:
        ended = text if not text or text.endswith("\n") else f"{text}\n"
        return f"{ended}{chr(10) if ended.strip() else ''}{snippet(table, name, entry)}\n"
    changed = {key for key in {*old, *entry} if key not in old or key not in entry or old[key] != entry[key]}
    return _change(_statements(text), (*table, name), entry, changed) if changed else text


def _change(statements: list[_Statement], path: Table, entry: Entry, changed: set[str]) -> str:
    result: list[str] = []
    section: tuple[str, ...] = ()
    known = False
    for statement in statements:
        section = statement.header if statement.header is not None else section
        depth = len(path)
        below = section[:depth] == path and len(section) > depth and section[depth] in changed
        if (below or (section == path and statement.key in changed)) and not statement.is_blank:
            continue
        result.append(statement.text)
        if statement.header == path:
            known = True
            if not statement.text.endswith("\n"):
                result.append("\n")
            result += [f"{_key(key)} = {_value(entry[key])}\n" for key in entry if key in changed]
    if not known:
        raise ConfigError(f"[{'.'.join(path)}] is not written as a table of its own.")
    return "".join(result)


def take(text: str, table: Table, name: str) -> str:
    """The text without the entry and its tables; comments before the next table stay."""
    path = (*table, name)
    result: list[_Statement] = []
    held: list[_Statement] = []
    inside = False
    for statement in _statements(text):
        if statement.header is not None:
            was, inside = inside, statement.header[: len(path)] == path
            if inside and not was:
                _drop_blank_line(result)
            if not inside:
                result += held
            held = []
        if not inside:
            result.append(statement)
        elif statement.is_blank:
            held.append(statement)
        else:
            held = []
    return "".join(statement.text for statement in [*result, *held])


def snippet(table: Table, name: str, entry: Entry) -> str:
    """The table alone."""
    header = ".".join(_key(key) for key in (*table, name))
    return "\n".join([f"[{header}]", *(f"{_key(key)} = {_value(value)}" for key, value in entry.items())])


def _drop_blank_line(statements: list[_Statement]) -> None:
    """The empty line that parted the table from what is before."""
    if statements and not statements[-1].text.strip():
        statements.pop()


def _load(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        # Its message names line and column, and no value.
        raise ConfigError(f"The file is no TOML: {error}.") from None


def _statements(text: str) -> list[_Statement]:
    _load(text)
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    statements, first = [], 0
    while first < len(lines):
        statement, first = _next(lines, first)
        statements.append(statement)
    return statements


def _next(lines: list[str], first: int) -> tuple[_Statement, int]:
    for last in range(first + 1, len(lines) + 1):
        piece = "".join(lines[first:last])
        try:
            data = tomllib.loads(piece)
        except tomllib.TOMLDecodeError:
            continue
        if piece.lstrip().startswith("["):
            return _Statement(piece, header=tuple(_path(data))), last
        return _Statement(piece, key=next(iter(data), "")), last
    raise ConfigError(f"Line {first + 1} of the file cannot be understood alone.")


def _path(data: Any) -> Iterable[str]:
    while data:
        if isinstance(data, list):
            data = data[0]
            continue
        key = next(iter(data))
        yield key
        data = data[key]


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _value(value: Any) -> str:
    """Text as JSON writes it, which TOML reads alike; lists and tables on one line."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(key)} = {_value(one)}' for key, one in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(one) for one in value)}]"
    return json.dumps(value, ensure_ascii=False)
