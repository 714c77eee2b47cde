"""Remembers which launches a person has agreed to: the exact command, its folder, its environment's names.

Kept here and not in the config file, so that whoever can edit that file cannot agree for the person.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Mapping
from concurrent.futures import Future
from datetime import datetime
from functools import partial
from typing import Any

from toolcrib.clock import Clock
from toolcrib.config.launch import launch_hash, launch_of
from toolcrib.errors import NotTrusted
from toolcrib.schema.servers import ServerEntry
from toolcrib.store.database import Database
from toolcrib.store.moments import from_stored, to_stored

logger = logging.getLogger(__name__)

EVERYTHING = "TOOLCRIB_TRUST_CONFIG"
"""Set to 1 where whoever writes the config file is also who starts the host: containers, tests."""
_UPSERT = "INSERT OR REPLACE INTO trust (server, launch, agreed_at) VALUES (?, ?, ?)"


class Trust:
    """The launches by server, all at hand; made by `open`. Changes are written behind."""

    def __init__(
        self, database: Database, launches: dict[str, Mapping[str, Any]], clock: Clock, *, everything: bool
    ) -> None:
        self._database = database
        self._launches = launches
        self._clock = clock
        self._everything = everything

    @classmethod
    async def open(
        cls,
        database: Database,
        ours: Mapping[str, Mapping[str, Any]],
        *,
        clock: Clock,
        everything: bool = False,
    ) -> Trust:
        """Read what was agreed to. `ours` are entries that need nobody's word, unless there is another one;
        `everything` counts as agreed to without being written down."""
        launches: dict[str, Mapping[str, Any]] = {server: launch_of(raw) for server, raw in ours.items()}
        launches |= await database.run(_read)
        return cls(database, launches, clock, everything=everything)

    def holds(self, entry: ServerEntry) -> bool:
        """Whether a person has agreed to just what this entry would run."""
        if self._everything:
            return True
        agreed = self._launches.get(entry.name)
        return agreed is not None and launch_hash(agreed) == launch_hash(launch_of(entry.raw))

    def distrust(self, entry: ServerEntry) -> NotTrusted | None:
        """Why an entry may not run; None when it may."""
        if self.holds(entry):
            return None
        return NotTrusted(
            f"What {entry.name} runs has changed since you agreed to it."
            if entry.name in self._launches
            else f"Nobody has agreed yet to what {entry.name} would run.",
            hint=f"`toolcrib trust {entry.name}` shows it and asks.",
        )

    def agreed(self, server: str) -> Mapping[str, Any] | None:
        """What was agreed to last."""
        return self._launches.get(server)

    async def agreed_at(self, server: str) -> datetime | None:
        """When that was; None where nobody had to."""
        statement = "SELECT agreed_at FROM trust WHERE server = ?"
        row = await self._database.run(lambda connection: connection.execute(statement, (server,)).fetchone())
        return None if row is None else from_stored(row[0])

    def accept(self, entry: ServerEntry) -> None:
        """A person agrees."""
        launch = launch_of(entry.raw)
        self._launches[entry.name] = launch
        row = (entry.name, json.dumps(launch, default=str), to_stored(self._clock.now()))
        self._database.keep(partial(_write, row)).add_done_callback(_take_in)


def _read(connection: sqlite3.Connection) -> dict[str, Mapping[str, Any]]:
    """The launches by server. Addresses that were stored with their keys are stored again without them."""
    launches: dict[str, Mapping[str, Any]] = {}
    for server, text in connection.execute("SELECT server, launch FROM trust").fetchall():
        stored = json.loads(text)
        launches[server] = launch_of(stored)
        if launches[server].get("url") != stored.get("url"):
            _replace(connection, server, launches[server])
    return launches


def _replace(connection: sqlite3.Connection, server: str, launch: Mapping[str, Any]) -> None:
    statement = "UPDATE trust SET launch = ? WHERE server = ?"
    connection.execute(statement, (json.dumps(launch, default=str), server))


def _write(row: tuple[Any, ...], connection: sqlite3.Connection) -> None:
    connection.execute(_UPSERT, row)


def _take_in(written: Future[None]) -> None:
    error = written.exception()
    if error is not None:
        logger.error("What was agreed to cannot be written: %s", error)
