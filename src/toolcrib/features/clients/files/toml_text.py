"""Edits TOML files of clients with tomlkit, which keeps comments, order and spacing; the standard library
reads them.

tomlkit is imported with the first edit.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from toolcrib.config.drafts import Table
from toolcrib.errors import ConfigError
from toolcrib.features.clients.files.client import Entry, entries_in

if TYPE_CHECKING:
    import tomlkit
    from tomlkit.container import Container

REMOVED = "\0\n"
"""A line that marks where a table was; TOML allows this character nowhere."""
_REMOVED = re.compile(f"(?:^[ \t]*\n)?{REMOVED}", re.MULTILINE)
"""With the empty line that separated the table from what is before it."""


def read(text: str) -> dict[str, Any]:
    """The document; raises `ConfigError`."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        # The message names line and column, and no value.
        raise ConfigError(f"The file is not valid TOML: {error}.") from None
    except RecursionError:
        raise ConfigError("The file is nested too deeply.") from None


def set_entries(text: str, table: Table, entries: Mapping[str, Entry]) -> str:
    """The text with the entries: new ones are tables at its end, others change where they are."""
    known = entries_in(read(text), table)
    for name, entry in entries.items():
        if name in known:
            text = _changed(text, (*table, name), known[name], entry)
    for name, entry in entries.items():
        if name not in known:
            text = _appended(text, (*table, name), entry)
    return text


def remove_entry(text: str, table: Table, name: str) -> str:
    """The text without the entry and its tables; comments before the next table stay."""
    document = _document(text)
    _take_out(document, [(*table, name)])
    return _text(document)


def _appended(text: str, path: Table, entry: Entry) -> str:
    ended = text if not text or text.endswith("\n") else f"{text}\n"
    separator = "\n" if ended.strip() else ""
    return f"{ended}{separator}{_table_text(path, entry)}"


def _changed(text: str, path: Table, old: Any, entry: Entry) -> str:
    if old == entry:
        return text
    if not isinstance(old, dict):
        raise ConfigError(f"{'.'.join(path)!r} is not a table.")
    gone = [key for key in old if key not in entry]
    new = [key for key in entry if key not in old or old[key] != entry[key]]
    document = _document(text)
    if _take_out(document, [(*path, key) for key in (*gone, *new)]):
        document = _document(_text(document))
    table = _own_table(document, path)
    for key in gone:
        _remove_value(table, key)
    for key in new:
        _set_value(table, key, _item(entry[key]))
    return document.as_string()


def _remove_value(table: Any, key: str) -> None:
    """Remove a value; one with dotted keys may be written on several lines."""
    while key in table:
        table.remove(key)


def _set_value(table: Any, key: str, item: Any) -> None:
    """Set a value; a new one follows the last one, before the comments that lead to the next table."""
    from tomlkit.items import AoT, Comment, InlineTable, Null, Whitespace
    from tomlkit.items import Table as TomlTable

    old = table.get(key)
    if old is not None and (isinstance(old, InlineTable) or not isinstance(old, dict)):
        table[key] = item
        return
    _remove_value(table, key)
    body = table.value.body
    end = next(
        (place for place, (_, known) in enumerate(body) if isinstance(known, TomlTable | AoT)), len(body)
    )
    while end and isinstance(body[end - 1][1], Comment | Whitespace | Null):
        end -= 1
    later = body[end:]
    del body[end:]
    table.append(key, item)
    body.extend(later)


def _take_out(document: tomlkit.TOMLDocument, paths: list[Table]) -> bool:
    """Mark the tables of these paths as removed, with those below; values of these paths stay."""
    from tomlkit.items import Whitespace

    found = [place for path in paths for place in _tables(document, path)]
    for container, place in found:
        tail = _tail(container.body[place][1])
        container.body[place] = (None, Whitespace(f"{REMOVED}{tail}", fixed=True))
    return bool(found)


def _text(document: tomlkit.TOMLDocument) -> str:
    return _REMOVED.sub("", document.as_string())


def _tail(item: Any) -> str:
    """The empty lines and comments at the end of a table, which lead to the next one."""
    from tomlkit.items import AoT, Comment, Whitespace
    from tomlkit.items import Table as TomlTable

    tail = ""
    body = item.body[-1].value.body if isinstance(item, AoT) else item.value.body
    for _, one in reversed(body):
        if isinstance(one, TomlTable | AoT):
            return f"{_tail(one)}{tail}"
        if not isinstance(one, Comment | Whitespace):
            break
        tail = f"{one.as_string()}{tail}"
    return tail


def _tables(container: Container, path: Table) -> Iterator[tuple[Container, int]]:
    """Where tables of this path are written; TOML allows parts of a table in several places."""
    from tomlkit.items import AoT
    from tomlkit.items import Table as TomlTable

    for place, (key, item) in enumerate(container.body):
        if key is None or key.key != path[0] or key.is_dotted() or not isinstance(item, TomlTable | AoT):
            continue
        if len(path) == 1:
            yield container, place
        elif isinstance(item, TomlTable):
            yield from _tables(item.value, path[1:])


def _own_table(document: tomlkit.TOMLDocument, path: Table) -> Any:
    """The table with a header of its own; raises `ConfigError`."""
    found: list[Any] = [container.body[place][1] for container, place in _tables(document, path)]
    table = next((candidate for candidate in found if not candidate.is_super_table()), None)
    if table is None:
        raise ConfigError(f"[{'.'.join(path)}] is not a separate table.")
    return table


def _document(text: str) -> tomlkit.TOMLDocument:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    read(text)
    try:
        document = tomlkit.parse(text)
    except (TOMLKitError, RecursionError):
        raise ConfigError("The file uses syntax that cannot be changed safely.") from None
    if document.as_string() != text:
        raise ConfigError("The file uses syntax that cannot be changed safely.")
    return document


def _table_text(path: Table, entry: Entry) -> str:
    import tomlkit

    table = tomlkit.table()
    for key, value in entry.items():
        table.append(key, _item(value))
    for key in reversed(path[1:]):
        parent = tomlkit.table(is_super_table=True)
        parent.append(key, table)
        table = parent
    document = tomlkit.document()
    document.append(path[0], table)
    return document.as_string()


def _item(value: Any) -> Any:
    """The value on one line."""
    import tomlkit

    if isinstance(value, dict):
        table = tomlkit.inline_table()
        for key, inner in value.items():
            table.append(key, _item(inner))
        return table
    if isinstance(value, list | tuple):
        array = tomlkit.array()
        for inner in value:
            array.append(_item(inner))
        return array
    try:
        return tomlkit.item(value)
    except (TypeError, ValueError):
        raise ConfigError("A value of the entry cannot be written as TOML.") from None
