"""The table of servers in the data of a client's file, whatever its format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.config.client_files.client import Client, Entry, Table
from toolcrib.errors import ConfigError


def entries_in(data: Mapping[str, Any], table: Table) -> dict[str, Any]:
    """The entries by name, none for null; raises `ConfigError` when the table is another value."""
    found: Any = data
    for depth, key in enumerate(table):
        found = {} if found.get(key) is None else found[key]
        if not isinstance(found, dict):
            raise ConfigError(f"{'.'.join(table[: depth + 1])!r} is not a table of entries.")
    return dict(found)


def without_entry(data: Any, path: Table) -> Any:
    """A copy without the entry at `path`, nor the tables that are empty then."""
    key, *below = path
    if not isinstance(data, dict) or key not in data:
        return data
    left = without_entry(data[key], tuple(below)) if below else {}
    others = {one: value for one, value in data.items() if one != key}
    return {**others, key: left} if left else others


def is_plain(value: Any) -> bool:
    """Whether a value is what JSON can hold, all through."""
    if isinstance(value, dict):
        return all(is_plain(one) for one in value.values())
    if isinstance(value, list):
        return all(is_plain(one) for one in value)
    return value is None or isinstance(value, str | int | float)


def snippet(client: Client, name: str, entry: Entry) -> str:
    """The entry alone, to paste into an empty file."""
    return client.syntax.set_entries("", client.table, {name: entry}).rstrip("\n")
