"""Stores each tool's definition across restarts: when it was first seen, when and how it changed.

Read once and kept in memory, so that the registry never waits; changes are written in the background.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

from toolcrib.clock import Clock, SystemClock
from toolcrib.schema.tools import DefinitionHistory, ToolDefinition
from toolcrib.store.columns import Row, from_column, from_stored, to_column, to_stored, upsert, write_each
from toolcrib.store.connection import DatabaseConnection
from toolcrib.store.work_queue import AsyncDatabase
from toolcrib.tools.definitions import digest

_DIGEST_LENGTH = 16
_COLUMNS = ("server", "tool", "hash", "parts", "first_seen", "last_changed", "previous_hash", "changes")
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM tool_history"  # noqa: S608
_UPSERT = upsert("tool_history", _COLUMNS, ("server", "tool"))


@dataclass(frozen=True)
class _Entry:
    hash: str
    parts: Mapping[str, str]
    history: DefinitionHistory


class ToolHistory:
    """Created by `open`."""

    def __init__(self, database: AsyncDatabase, entries: dict[str, dict[str, _Entry]], clock: Clock) -> None:
        self._database = database
        self._entries = entries
        self._clock = clock
        self.errors = 0
        """Failed writes; their content is known only until this process ends."""

    @classmethod
    async def open(cls, database: AsyncDatabase, *, clock: Clock | None = None) -> ToolHistory:
        return cls(database, await database.run(_read_all), clock or SystemClock())

    def observe(
        self, server: str | None, seen: Iterable[tuple[ToolDefinition, str]]
    ) -> Mapping[str, DefinitionHistory]:
        """Note a server's definitions with their hashes; returns the history of each by name."""
        known = self._entries.setdefault(server or "", {})
        histories: dict[str, DefinitionHistory] = {}
        changed: list[Row] = []
        for definition, hash_ in seen:
            entry = known.get(definition.name)
            if entry is None or entry.hash != hash_:
                entry = known[definition.name] = self._next(entry, definition, hash_)
                changed.append(_to_row(server or "", definition.name, entry))
            histories[definition.name] = entry.history
        if changed:
            write = partial(write_each, statement=_UPSERT, rows=changed)
            written = self._database.keep(write, "The history of tools")
            written.add_done_callback(self._take_in)
        return histories

    def recall(self, server: str | None) -> Mapping[str, DefinitionHistory]:
        return {name: entry.history for name, entry in self._entries.get(server or "", {}).items()}

    def _next(self, entry: _Entry | None, definition: ToolDefinition, hash_: str) -> _Entry:
        now = self._clock.now()
        parts = {key: digest(value)[:_DIGEST_LENGTH] for key, value in definition.raw.items()}
        if entry is None:
            return _Entry(hash_, parts, DefinitionHistory(first_seen=now, last_changed=now))
        history = DefinitionHistory(
            first_seen=entry.history.first_seen,
            last_changed=now,
            previous_hash=entry.hash,
            changes=tuple(
                sorted(key for key in {*parts, *entry.parts} if parts.get(key) != entry.parts.get(key))
            ),
        )
        return _Entry(hash_, parts, history)

    def _take_in(self, written: Future[list[Row]]) -> None:
        self.errors += len(written.result()) if written.exception() is None else 1


def _read_all(connection: DatabaseConnection) -> dict[str, dict[str, _Entry]]:
    entries: dict[str, dict[str, _Entry]] = {}
    for row in connection.execute(_SELECT).fetchall():
        entries.setdefault(row[0], {})[from_column(row[1])] = _from_row(row)
    return entries


def _to_row(server: str, tool: str, entry: _Entry) -> Row:
    history = entry.history
    return (
        server,
        to_column(tool),
        entry.hash,
        json.dumps(dict(entry.parts)),
        to_stored(history.first_seen),
        to_stored(history.last_changed),
        history.previous_hash,
        json.dumps(history.changes),
    )


def _from_row(row: tuple[Any, ...]) -> _Entry:
    _, _, hash_, parts, first_seen, last_changed, previous_hash, changes = row
    history = DefinitionHistory(
        first_seen=from_stored(first_seen),
        last_changed=from_stored(last_changed),
        previous_hash=previous_hash,
        changes=tuple(json.loads(changes)),
    )
    return _Entry(hash_, json.loads(parts), history)
