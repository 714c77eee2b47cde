"""Keeps each tool's definition as a person approved it, so that one that changes later can be held and shown.

The first list of a server that is trusted is approved with it.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from toolcrib.clock import Clock
from toolcrib.schema.tools import ToolDefinition
from toolcrib.store.database import Database, transact
from toolcrib.store.moments import from_stored, to_stored

logger = logging.getLogger(__name__)

_SELECT = "SELECT server, tool, hash, definition, pinned_at FROM tool_pins"
_UPSERT = (
    "INSERT OR REPLACE INTO tool_pins (server, tool, hash, definition, pinned_at) VALUES (?, ?, ?, ?, ?)"
)


@dataclass(frozen=True)
class Pin:
    """A definition as it was approved."""

    hash: str
    definition: Mapping[str, Any]
    at: datetime


class ToolPins:
    """The approved definitions by server and tool, all at hand; made by `open`, written behind."""

    def __init__(self, database: Database, pins: dict[str, dict[str, Pin]], clock: Clock) -> None:
        self._database = database
        self._pins = pins
        self._clock = clock

    @classmethod
    async def open(cls, database: Database, *, clock: Clock) -> ToolPins:
        """Read all of them."""
        rows = await database.run(lambda connection: connection.execute(_SELECT).fetchall())
        pins: dict[str, dict[str, Pin]] = {}
        for server, tool, hash_, definition, at in rows:
            pins.setdefault(server, {})[tool] = Pin(hash_, json.loads(definition), from_stored(at))
        return cls(database, pins, clock)

    def held(
        self, server: str, seen: Iterable[tuple[ToolDefinition, str]], *, approve_new: bool
    ) -> frozenset[str]:
        """The tools that are not as they were approved; `approve_new` approves those that never were."""
        known = self._pins.get(server, {})
        seen = tuple(seen)
        if approve_new:
            self.approve(server, [one for one in seen if one[0].name not in known])
        return frozenset(
            definition.name
            for definition, hash_ in seen
            if definition.name in known and known[definition.name].hash != hash_
        )

    def approve(self, server: str, definitions: Iterable[tuple[ToolDefinition, str]]) -> None:
        """A person agrees to these as they are."""
        now = self._clock.now()
        moment = to_stored(now)
        rows = []
        known = self._pins.setdefault(server, {})
        for definition, hash_ in definitions:
            known[definition.name] = Pin(hash_, definition.raw, now)
            rows.append((server, definition.name, hash_, json.dumps(dict(definition.raw)), moment))
        if rows:
            self._database.keep(partial(_write, rows)).add_done_callback(_take_in)

    def approved(self, server: str, tool: str) -> Mapping[str, Any] | None:
        """The definition as it was approved."""
        pin = self.pin(server, tool)
        return pin.definition if pin is not None else None

    def pin(self, server: str, tool: str) -> Pin | None:
        """The same, with its hash and when that was."""
        return self._pins.get(server, {}).get(tool)

    def forget(self, server: str) -> None:
        """Nothing of that server is approved any more."""
        if self._pins.pop(server, None) is not None:
            self._database.keep(partial(_delete, server)).add_done_callback(_take_in)


def _write(rows: list[tuple[Any, ...]], connection: sqlite3.Connection) -> None:
    transact(connection, lambda within: within.executemany(_UPSERT, rows))


def _delete(server: str, connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM tool_pins WHERE server = ?", (server,))


def _take_in(written: Future[None]) -> None:
    error = written.exception()
    if error is not None:
        logger.error("Approved definitions cannot be written: %s", error)
