"""Stores each tool's definition as the user approved it, so that later changes are detected and the tool is
held; has the reasons that are shown for it.

The first list of a trusted server is approved with it. A tool whose approval cannot be stored is held,
because the next process could not detect a change.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from toolcrib.clock import Clock
from toolcrib.schema.tools import ToolDefinition
from toolcrib.store.columns import Row, from_column, from_stored, to_column, to_stored, write_each
from toolcrib.store.connection import DatabaseConnection
from toolcrib.store.decisions import Decisions, upsert_decision
from toolcrib.store.work_queue import AsyncDatabase, read_current
from toolcrib.tools.ports import DefinitionScreen

logger = logging.getLogger(__name__)

CHANGED = "its definition changed since it was approved"
WRITE_SECONDS = 2.0
"""After this time, a write that failed and is retried holds its tools."""
UNSTORED = "its approval could not be stored"
_WHAT = "Approved definitions"

_UPSERT = upsert_decision("tool_pins")
_REFUSED = ""
"""The hash of no definition: a tool whose stored approval is refused is held."""


@dataclass(frozen=True)
class Pin:
    """An approved definition."""

    hash: str
    definition: Mapping[str, Any]
    at: datetime


class ToolPins:
    """Created by `open`; kept in memory, written in the background."""

    def __init__(self, database: AsyncDatabase, pins: dict[str, dict[str, Pin]], clock: Clock) -> None:
        self._database = database
        self._pins = pins
        self._clock = clock
        self._unstored: dict[str, set[str]] = {}
        self._changes = 0
        self._loop = asyncio.get_running_loop()
        self.on_unstored: Callable[[str], None] = lambda server: None
        """Called with a server if some of its approvals could not be stored, or were stored at last."""

    @classmethod
    async def open(cls, database: AsyncDatabase, *, clock: Clock) -> ToolPins:
        return cls(database, await database.run(partial(_read_all, database.decisions)), clock)

    async def refresh(self) -> list[str]:
        """Read all approvals again, after another host changed them; returns the servers that differ."""
        read = partial(_read_all, self._database.decisions)
        pins = await read_current(self._database, read, lambda: self._changes)
        before, self._pins = self._pins, pins
        for server, names in self._unstored.items():  # only known here
            lost = {name: pin for name, pin in before.get(server, {}).items() if name in names}
            pins[server] = {**lost, **pins.get(server, {})}
        names = {*before, *pins}
        return sorted(name for name in names if _hashes(before.get(name)) != _hashes(pins.get(name)))

    def held(
        self,
        server: str,
        seen: Iterable[tuple[ToolDefinition, str]],
        *,
        approve_new: bool,
        screen: DefinitionScreen | None = None,
    ) -> Mapping[str, str]:
        """The tools that may not be called, each with the reason.

        `approve_new` approves new ones, except those that `screen` holds.
        """
        known = self._pins.setdefault(server, {})
        seen = tuple(seen)
        new = [pin for pin in seen if pin[0].name not in known]
        flagged = screen(server, new) if screen is not None and new else {}
        if approve_new:
            self.approve(server, [pin for pin in new if pin[0].name not in flagged])
        unstored = dict.fromkeys(self._unstored.get(server, ()), UNSTORED)
        changed = (
            definition.name
            for definition, hash_ in seen
            if definition.name in known and known[definition.name].hash != hash_
        )
        return {**flagged, **unstored, **dict.fromkeys(changed, CHANGED)}

    def approve(self, server: str, definitions: Iterable[tuple[ToolDefinition, str]]) -> None:
        now = self._clock.now()
        rows: list[Row] = []
        known = self._pins.setdefault(server, {})
        for definition, hash_ in definitions:
            known[definition.name] = Pin(hash_, definition.raw, now)
            self._unstored.get(server, set()).discard(definition.name)
            text = _written(definition)
            if text is None:
                self._unstored.setdefault(server, set()).add(definition.name)
            else:
                row = (server, to_column(definition.name), hash_, text, to_stored(now))
                rows.append((*row, self._database.decisions.decide("tool_pins", *row)))
        if rows:
            self._changes += 1
            written = self._database.keep(partial(write_each, statement=_UPSERT, rows=rows), _WHAT)
            written.add_done_callback(partial(self._take_in, server, rows))
            self._loop.call_later(WRITE_SECONDS, self._check_written, server, rows, written)

    def approved(self, server: str, tool: str) -> Mapping[str, Any] | None:
        pin = self.pin(server, tool)
        return pin.definition if pin is not None else None

    def pin(self, server: str, tool: str) -> Pin | None:
        """The approved definition with its hash and time."""
        return self._pins.get(server, {}).get(tool)

    def forget(self, server: str) -> None:
        self._unstored.pop(server, None)
        if self._pins.pop(server, None) is not None:
            self._changes += 1
            self._database.keep(partial(_delete, server), _WHAT)

    def _take_in(self, server: str, rows: list[Row], written: Future[list[Row]]) -> None:
        lost = rows if written.exception() is not None else written.result()
        if lost:
            self._soon(self._hold, server, {from_column(row[1]): row[2] for row in lost})

    def _check_written(self, server: str, rows: list[Row], written: Future[list[Row]]) -> None:
        """Hold tools whose approvals wait for a database that is locked or full, until they are stored."""
        if written.done():
            return
        if self._database.trouble is None:  # only slow
            self._loop.call_later(WRITE_SECONDS, self._check_written, server, rows, written)
            return
        names = {from_column(row[1]): row[2] for row in rows}
        self._hold(server, names)
        written.add_done_callback(lambda _: self._soon(self._release, server, names, written))

    def _release(self, server: str, names: Mapping[str, str], written: Future[list[Row]]) -> None:
        """Offer tools whose approvals were stored at last."""
        if written.exception() is not None:
            return
        lost = {from_column(row[1]) for row in written.result()}
        pins, waiting = self._pins.get(server, {}), self._unstored.get(server, set())
        stored = {name for name, hash_ in names.items() if name in pins and pins[name].hash == hash_} - lost
        waiting -= stored
        if stored:
            self.on_unstored(server)

    def _soon(self, work: Callable[..., None], *arguments: Any) -> None:
        """Called in the database's thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(work, *arguments)

    def _hold(self, server: str, lost: Mapping[str, str]) -> None:
        """Hold the tools whose approvals were lost, unless approved again meanwhile."""
        pins = self._pins.get(server, {})
        names = {name for name, hash_ in lost.items() if name in pins and pins[name].hash == hash_}
        self._unstored.setdefault(server, set()).update(names)
        if names:
            self.on_unstored(server)


def _written(definition: ToolDefinition) -> str | None:
    """The definition as JSON; None if impossible."""
    try:
        return json.dumps(dict(definition.raw))
    except (ValueError, TypeError, RecursionError) as error:
        logger.error("An approved definition cannot be written: %s", error)
        return None


def _read_all(decisions: Decisions, connection: DatabaseConnection) -> dict[str, dict[str, Pin]]:
    pins: dict[str, dict[str, Pin]] = {}
    for server, tool, hash_, definition, at, _ in decisions.read(connection, "tool_pins"):
        pins.setdefault(server, {})[from_column(tool)] = Pin(hash_, _read(definition), from_stored(at))
    for server, tool, _, _, at, _ in decisions.refused.get("tool_pins", {}).values():
        pins.setdefault(server, {})[from_column(tool)] = Pin(_REFUSED, {}, from_stored(at))
    return pins


def _hashes(pins: Mapping[str, Pin] | None) -> dict[str, str]:
    return {tool: pin.hash for tool, pin in (pins or {}).items()}


def _read(definition: str) -> Mapping[str, Any]:
    """A damaged definition is unknown; its hash still detects changes."""
    try:
        read = json.loads(definition)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def _delete(server: str, connection: DatabaseConnection) -> None:
    connection.execute("DELETE FROM tool_pins WHERE server = ?", (server,))
