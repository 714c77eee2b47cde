"""Stores which launches the user approved: the exact command, its folder, and its variables' names. Has the
error messages for a server that is not approved or has changed, and the variable that trusts the whole config
file.

Kept here and not in the config file, so that editing that file cannot approve a launch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from toolcrib.clock import Clock
from toolcrib.config.review import launch_hash, launch_of
from toolcrib.errors import NotTrusted
from toolcrib.schema.servers import ServerEntry
from toolcrib.store.columns import from_stored, to_stored
from toolcrib.store.connection import DatabaseConnection
from toolcrib.store.decisions import Decided, Decisions, upsert_decision
from toolcrib.store.work_queue import AsyncDatabase, read_current

EVERYTHING = "TOOLCRIB_TRUST_CONFIG"
"""Set to 1 if the author of the config file also starts the host: containers, tests."""
_UPSERT = upsert_decision("trust")


class Trust:
    """Created by `open`; kept in memory, written in the background."""

    def __init__(
        self,
        database: AsyncDatabase,
        launches: dict[str, Mapping[str, Any]],
        clock: Clock,
        *,
        ours: Mapping[str, Mapping[str, Any]],
        everything: bool,
    ) -> None:
        self._database = database
        self._launches = launches
        self._clock = clock
        self._everything = everything
        self._ours = ours
        self._changes = 0

    @classmethod
    async def open(
        cls,
        database: AsyncDatabase,
        ours: Mapping[str, Mapping[str, Any]],
        *,
        clock: Clock,
        everything: bool = False,
    ) -> Trust:
        """Read all approvals. `ours` are entries that need no approval unless changed; `everything` approves
        all without storing it."""
        own = {server: launch_of(raw) for server, raw in ours.items()}
        launches = {**own, **await database.run(partial(_read, database.decisions))}
        return cls(database, launches, clock, ours=own, everything=everything)

    async def refresh(self) -> bool:
        """Read all approvals again, after another host changed them; whether they differ."""
        read = await read_current(
            self._database, partial(_read, self._database.decisions), lambda: self._changes
        )
        before, self._launches = self._launches, {**self._ours, **read}
        return before != self._launches

    def holds(self, entry: ServerEntry) -> bool:
        """Whether the user approved exactly what this entry would run."""
        if self._everything:
            return True
        agreed = self._launches.get(entry.name)
        return agreed is not None and launch_hash(agreed) == launch_hash(launch_of(entry.raw))

    def distrust(self, entry: ServerEntry) -> NotTrusted | None:
        """Why an entry may not run; None if it may."""
        if self.holds(entry):
            return None
        return NotTrusted(
            f"The launch of {entry.name} has changed since you approved it."
            if entry.name in self._launches
            else f"The launch of {entry.name} is not approved yet.",
            hint=f"`toolcrib trust {entry.name}` shows what would run and asks for approval.",
        )

    def agreed(self, server: str) -> Mapping[str, Any] | None:
        return self._launches.get(server)

    async def agreed_at(self, server: str) -> datetime | None:
        """When it was approved; None if no approval was needed."""
        statement = "SELECT agreed_at FROM trust WHERE server = ?"
        row = await self._database.run(lambda connection: connection.execute(statement, (server,)).fetchone())
        return None if row is None else from_stored(row[0])

    def accept(self, entry: ServerEntry) -> None:
        launch = launch_of(entry.raw)
        self._launches[entry.name] = launch
        self._changes += 1
        row = (entry.name, json.dumps(launch, default=str), to_stored(self._clock.now()))
        decided = self._database.decisions.decide("trust", *row)
        self._database.keep(partial(_write, (*row, decided)), "Approved launches")


def _read(decisions: Decisions, connection: DatabaseConnection) -> dict[str, Mapping[str, Any]]:
    """Approved launches by server; addresses that were stored with keys are stored again without them."""
    launches: dict[str, Mapping[str, Any]] = {}
    for server, text, at, decided in decisions.read(connection, "trust"):
        stored = json.loads(text)
        launches[server] = launch_of(stored)
        if launches[server].get("url") != stored.get("url"):
            row = (server, json.dumps(launches[server], default=str), at)
            _write((*row, decisions.decide("trust", *row, decided=Decided.read(decided))), connection)
    return launches


def _write(row: tuple[Any, ...], connection: DatabaseConnection) -> None:
    connection.execute(_UPSERT, row)
