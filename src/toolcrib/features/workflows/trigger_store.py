"""Triggers that were turned on, and what they started; shared by all hosts that use the same database.
Decides how many failed starts are kept.

The token of a webhook is stored as a salted hash.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, TypeVar

from toolcrib.features.workflows.automation.definitions import run_id
from toolcrib.features.workflows.tables import SIGNED, STARTS, TRIGGERS
from toolcrib.features.workflows.trigger_type import TriggerOccurrence, TriggerResult
from toolcrib.schema.deciders import decider, deciding
from toolcrib.store.columns import from_stored, to_stored
from toolcrib.store.connection import DatabaseConnection, transact
from toolcrib.store.work_queue import AsyncDatabase

T = TypeVar("T")

_TRIGGER = f"{', '.join(SIGNED[TRIGGERS].columns)}, decided, checked_until"
_SIGNED_START = SIGNED[STARTS].columns
_START = "run, workflow, trigger_key, state, due, updated, event, note"
_UPSERT = (
    f"INSERT INTO workflow_triggers ({_TRIGGER}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
    " ON CONFLICT (workflow, trigger_key) DO UPDATE SET active = excluded.active,"
    " fingerprint = excluded.fingerprint, since = excluded.since, checked_until = excluded.checked_until,"
    " machine = excluded.machine, hook = excluded.hook, token_hash = excluded.token_hash,"
    " decided = excluded.decided"
)
_INSERT = (
    "INSERT INTO workflow_starts"
    " (run, workflow, trigger_key, occurrence, event, due, decided, state, updated, note)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '') ON CONFLICT (run) DO NOTHING"
)
_NOT_STARTED = "(state = 'pending' OR (state = 'starting' AND updated < ?))"
MOST_FAILED = 100
"""Starts of a trigger that failed and can be started again: the latest."""
_FORGET_EVENTS = (
    "UPDATE workflow_starts SET event = NULL WHERE run IN (SELECT other.run FROM workflow_starts AS other"
    " JOIN workflow_starts AS this ON this.workflow = other.workflow AND this.trigger_key = other.trigger_key"
    " WHERE this.run = ? AND other.state = 'failed' AND other.event IS NOT NULL"
    " ORDER BY other.updated DESC, other.run LIMIT 1000000 OFFSET ?)"
)
_FINAL = "('ignored', 'started', 'ended', 'skipped', 'failed')"


StartState = Literal["ignored", "pending", "starting", "started", "ended", "skipped", "failed"]
"""`ignored` starts nothing; `skipped` would have overlapped; `ended`, `skipped` and `failed` are final."""


@dataclass(frozen=True, kw_only=True)
class Activation:
    """A trigger that the user turned on here, or off again."""

    workflow: str
    trigger: str
    """`schedule`, `schedule-2`: its type and its number among those of its type."""
    on: bool
    fingerprint: str
    """Of the settings that the user agreed to."""
    since: datetime
    position: str = ""
    machine: str = ""
    """Where it was turned on."""
    hook: str = ""
    """The public part of its webhook token."""
    token_hash: str = field(default="", repr=False)


@dataclass(frozen=True, kw_only=True)
class StartRecord:
    """An occurrence and the run that it started."""

    run: str
    workflow: str
    trigger: str
    state: StartState
    due: datetime
    updated: datetime
    event: Mapping[str, Any] | None = field(default=None, repr=False)
    """None once the run has started, and of all but the latest that failed."""
    note: str = ""
    """Why it was skipped or failed."""


class StoredTriggers:
    def __init__(self, database: AsyncDatabase) -> None:
        self._database = database

    async def activations(self, workflow: str | None = None) -> Sequence[Activation]:
        where, values = (" WHERE workflow = ?", (workflow,)) if workflow is not None else ("", ())
        query = f"SELECT {_TRIGGER} FROM workflow_triggers{where} ORDER BY workflow, trigger_key"  # noqa: S608
        return [_activation(row) for row in await self._rows(query, values) if self._is_signed(row)]

    async def by_hook(self, hook: str) -> Activation | None:
        query = f"SELECT {_TRIGGER} FROM workflow_triggers WHERE hook = ? AND hook <> ''"  # noqa: S608
        rows = [row for row in await self._rows(query, (hook,)) if self._is_signed(row)]
        return _activation(rows[0]) if rows else None

    def _is_signed(self, row: Sequence[Any]) -> bool:
        return self._database.decisions.fits(TRIGGERS, row[:-1])

    async def turn_on(self, activation: Activation, found: TriggerResult) -> None:
        """Store it, with what its trigger found at the beginning; earlier occurrences stay."""
        row = self._trigger_row(activation)

        def work(connection: DatabaseConnection) -> None:
            connection.execute(_UPSERT, row)
            self._insert(connection, activation, found.occurrences, activation.since)

        await self._transact(work)

    async def turn_off(self, workflow: str, trigger: str) -> bool:
        """False if it is not on."""
        by = decider()
        where = "WHERE workflow = ? AND trigger_key = ? AND active = 1"

        def work(connection: DatabaseConnection) -> bool:
            query = f"SELECT {_TRIGGER} FROM workflow_triggers {where}"  # noqa: S608
            row = connection.execute(query, (workflow, trigger)).fetchone()
            if row is None:
                return False
            # One that was refused stays so.
            with deciding(by):
                off = self._trigger_row(replace(_activation(row), on=False)) if self._is_signed(row) else None
            statement = f"UPDATE workflow_triggers SET active = 0, decided = ? {where}"  # noqa: S608
            connection.execute(statement, (off[-2] if off else "", workflow, trigger))
            return True

        return await self._transact(work)

    async def forget(self, workflow: str) -> None:
        """Remove its triggers and occurrences: the workflow was removed or replaced."""

        def work(connection: DatabaseConnection) -> None:
            connection.execute("DELETE FROM workflow_triggers WHERE workflow = ?", (workflow,))
            connection.execute("DELETE FROM workflow_starts WHERE workflow = ?", (workflow,))

        await self._transact(work)

    async def record(
        self, activation: Activation, found: TriggerResult, now: datetime, *, forget_before: datetime
    ) -> bool:
        """Store what was found, as a whole; False if another host was faster or it was turned off."""

        def work(connection: DatabaseConnection) -> bool:
            if not _advance(connection, activation, found.position):
                return False
            self._insert(connection, activation, found.occurrences, now)
            _forget(connection, activation, found.gone, forget_before)
            return True

        return await self._transact(work)

    async def add(self, activation: Activation, occurrence: TriggerOccurrence, now: datetime) -> bool:
        """Store one occurrence; False if it is known."""
        return await self._change(_INSERT, self._start_row(activation, occurrence, now)) > 0

    async def start_of(self, run: str) -> StartRecord | None:
        rows = await self._rows(f"SELECT {_START} FROM workflow_starts WHERE run = ?", (run,))  # noqa: S608
        return _record(rows[0]) if rows else None

    async def waiting(self, stale: datetime) -> Sequence[tuple[str, str]]:
        """The triggers with occurrences whose runs are not started, or began to start before `stale`."""
        query = f"SELECT DISTINCT workflow, trigger_key FROM workflow_starts WHERE {_NOT_STARTED}"  # noqa: S608
        rows = await self._rows(query, (to_stored(stale),))
        return [(workflow, trigger) for workflow, trigger in rows]

    async def pending(
        self, workflow: str, trigger: str, stale: datetime, limit: int
    ) -> Sequence[StartRecord]:
        query = (
            f"SELECT {_START}, {', '.join(_SIGNED_START)}, decided FROM workflow_starts"  # noqa: S608
            f" WHERE workflow = ? AND trigger_key = ? AND {_NOT_STARTED} ORDER BY due, run LIMIT ?"
        )
        return self._signed(await self._rows(query, (workflow, trigger, to_stored(stale), limit)))

    def _signed(self, rows: list[Any]) -> list[StartRecord]:
        width = len(_SIGNED_START) + 1
        return [_record(row[:-width]) for row in rows if self._database.decisions.fits(STARTS, row[-width:])]

    async def claim(self, run: str, now: datetime, stale: datetime) -> bool:
        """Begin to start a run; False if another host does."""
        statement = (
            f"UPDATE workflow_starts SET state = 'starting', updated = ? WHERE run = ? AND {_NOT_STARTED}"  # noqa: S608
        )
        return await self._change(statement, (to_stored(now), run, to_stored(stale))) > 0

    async def settle(self, run: str, state: StartState, now: datetime, note: str = "") -> None:
        event = "event" if state in ("pending", "failed") else "NULL"
        statement = (
            f"UPDATE workflow_starts SET state = ?, updated = ?, note = ?, event = {event} WHERE run = ?"  # noqa: S608
        )

        def work(connection: DatabaseConnection) -> None:
            connection.execute(statement, (state, to_stored(now), note[:500], run))
            if state == "failed":
                connection.execute(_FORGET_EVENTS, (run, MOST_FAILED))

        await self._transact(work)

    async def running(self, workflow: str, trigger: str, stale: datetime) -> Sequence[str]:
        """The runs that have started, or are starting, and are not known to have ended."""
        query = (
            "SELECT run FROM workflow_starts WHERE workflow = ? AND trigger_key = ?"
            " AND (state = 'started' OR (state = 'starting' AND updated >= ?))"
        )
        return [run for (run,) in await self._rows(query, (workflow, trigger, to_stored(stale)))]

    async def known(self, workflow: str, trigger: str) -> set[str]:
        """The ids of all stored occurrences."""
        query = "SELECT occurrence FROM workflow_starts WHERE workflow = ? AND trigger_key = ?"
        return {occurrence for (occurrence,) in await self._rows(query, (workflow, trigger))}

    async def latest(self, workflow: str, trigger: str, limit: int) -> Sequence[StartRecord]:
        query = (
            f"SELECT {_START} FROM workflow_starts WHERE workflow = ? AND trigger_key = ?"  # noqa: S608
            " AND state <> 'ignored' ORDER BY due DESC, run DESC LIMIT ?"
        )
        return [_record(row) for row in await self._rows(query, (workflow, trigger, limit))]

    async def failed(self, workflow: str, trigger: str, limit: int) -> Sequence[StartRecord]:
        """The latest starts that failed."""
        query = (
            f"SELECT {_START} FROM workflow_starts WHERE workflow = ? AND trigger_key = ?"  # noqa: S608
            " AND state = 'failed' ORDER BY due DESC, run DESC LIMIT ?"
        )
        return [_record(row) for row in await self._rows(query, (workflow, trigger, limit))]

    async def count_failed(self, workflow: str | None) -> int:
        where, values = (" AND workflow = ?", (workflow,)) if workflow is not None else ("", ())
        query = f"SELECT count(*) FROM workflow_starts WHERE state = 'failed'{where}"  # noqa: S608
        return int((await self._rows(query, values))[0][0])

    async def startable(self, run: str) -> StartRecord | None:
        """A start that failed, if its event is still there."""
        query = (
            f"SELECT {_START}, {', '.join(_SIGNED_START)}, decided FROM workflow_starts"  # noqa: S608
            " WHERE run = ? AND state = 'failed' AND event IS NOT NULL"
        )
        found = self._signed(await self._rows(query, (run,)))
        return found[0] if found else None

    async def prune(self, before: datetime, keep: Sequence[tuple[str, str]]) -> int:
        """Delete final records from before, except those of the triggers in `keep`."""
        others = "".join(" AND NOT (workflow = ? AND trigger_key = ?)" for _ in keep)
        statement = f"DELETE FROM workflow_starts WHERE updated < ? AND state IN {_FINAL}{others}"  # noqa: S608
        values = (to_stored(before), *(part for pair in keep for part in pair))
        return await self._change(statement, values)

    def _insert(
        self,
        connection: DatabaseConnection,
        activation: Activation,
        found: Iterable[TriggerOccurrence],
        now: datetime,
    ) -> None:
        rows = [self._start_row(activation, occurrence, now) for occurrence in found]
        if rows:
            connection.executemany(_INSERT, rows)

    def _trigger_row(self, activation: Activation) -> tuple[Any, ...]:
        row = (
            activation.workflow,
            activation.trigger,
            int(activation.on),
            activation.fingerprint,
            to_stored(activation.since),
            activation.machine,
            activation.hook,
            activation.token_hash,
        )
        return (*row, self._database.decisions.decide(TRIGGERS, *row), activation.position)

    def _start_row(
        self, activation: Activation, occurrence: TriggerOccurrence, now: datetime
    ) -> tuple[Any, ...]:
        row = (
            run_id(activation.workflow, activation.trigger, occurrence.id),
            activation.workflow,
            activation.trigger,
            occurrence.id,
            None if occurrence.ignored else json.dumps(occurrence.event),
            to_stored(occurrence.due),
        )
        state = "ignored" if occurrence.ignored else "pending"
        return (*row, self._database.decisions.decide(STARTS, *row), state, to_stored(now))

    async def _rows(self, query: str, values: tuple[Any, ...]) -> list[Any]:
        return await self._database.run(lambda connection: connection.execute(query, values).fetchall())

    async def _change(self, statement: str, values: tuple[Any, ...]) -> int:
        return await self._transact(lambda connection: connection.execute(statement, values).rowcount)

    async def _transact(self, work: Callable[[DatabaseConnection], T]) -> T:
        return await self._database.run(lambda connection: transact(connection, work))


def _advance(connection: DatabaseConnection, activation: Activation, position: str | None) -> bool:
    """Move the position on; False if it is not where the host believes, or the trigger is off."""
    statement = (
        "UPDATE workflow_triggers SET checked_until = ? WHERE workflow = ? AND trigger_key = ?"
        " AND active = 1 AND fingerprint = ? AND since = ? AND checked_until = ?"
    )
    values = (
        activation.position if position is None else position,
        activation.workflow,
        activation.trigger,
        activation.fingerprint,
        to_stored(activation.since),
        activation.position,
    )
    return connection.execute(statement, values).rowcount > 0


def _forget(
    connection: DatabaseConnection, activation: Activation, gone: Iterable[str], before: datetime
) -> None:
    rows = [
        (run_id(activation.workflow, activation.trigger, occurrence), to_stored(before))
        for occurrence in gone
    ]
    if rows:
        statement = f"DELETE FROM workflow_starts WHERE run = ? AND updated < ? AND state IN {_FINAL}"  # noqa: S608
        connection.executemany(statement, rows)


def _activation(row: Sequence[Any]) -> Activation:
    workflow, trigger, active, fingerprint, since, machine, hook, token_hash, _, position = row
    return Activation(
        workflow=workflow,
        trigger=trigger,
        on=bool(active),
        fingerprint=fingerprint,
        since=from_stored(since),
        position=position,
        machine=machine,
        hook=hook,
        token_hash=token_hash,
    )


def _record(row: Sequence[Any]) -> StartRecord:
    run, workflow, trigger, state, due, updated, event, note = row
    return StartRecord(
        run=run,
        workflow=workflow,
        trigger=trigger,
        state=state,
        due=from_stored(due),
        updated=from_stored(updated),
        event=None if event is None else json.loads(event),
        note=note,
    )
