"""Triggers on a real database, with a starter that keeps its runs in a SQLite table."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from toolcrib.errors import NotFound, ServerUnavailable
from toolcrib.features.workflows.automation.definitions import find_defined
from toolcrib.features.workflows.automation.scheduler import Scheduler
from toolcrib.features.workflows.automation.starts import RunStarter
from toolcrib.features.workflows.trigger_store import Activation, StartRecord, StoredTriggers
from toolcrib.schema.workflows import RunState, Trigger, Workflow
from toolcrib.store.database import open_database
from toolcrib.testing.clock import TurnedClock

MONDAY = datetime(2026, 6, 1, 6, 0, tzinfo=UTC)


class RecordedRuns:
    """Runs as rows: starting one that exists does nothing."""

    def __init__(self, file: Path) -> None:
        self._connection = sqlite3.connect(file, isolation_level=None)
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS runs (run TEXT PRIMARY KEY, workflow TEXT, inputs TEXT, state TEXT)"
        )
        self.calls = 0
        self.refuse_with: Exception | None = None
        self.stop_after_start = False
        self.events: list[tuple[str, str, Any]] = []
        self.sources: list[str] = []
        """Where the untrusted data of each start and event is from."""

    async def check(self, workflow: Workflow, inputs: Mapping[str, Any]) -> None:
        if self.refuse_with is not None:
            raise self.refuse_with

    async def start(
        self, workflow: Workflow, inputs: Mapping[str, Any], run: str, *, source: str = ""
    ) -> None:
        self.calls += 1
        self.sources.append(source)
        if self.refuse_with is not None:
            raise self.refuse_with
        row = (run, workflow.name, repr(dict(inputs)))
        self._connection.execute("INSERT OR IGNORE INTO runs VALUES (?, ?, ?, 'running')", row)
        if self.stop_after_start:
            raise Stopped

    async def state(self, run: str) -> RunState | None:
        row = self._connection.execute("SELECT state FROM runs WHERE run = ?", (run,)).fetchone()
        return None if row is None else row[0]

    async def result(self, run: str, timeout: float) -> Mapping[str, Any]:
        return {"run": run, "state": await self.state(run), "outputs": {"answer": 42}, "error": None}

    async def find(self, workflow: str, name: str, value: Any) -> Sequence[str]:
        wanted = f"%{name!r}: {value!r}%"
        query = "SELECT run FROM runs WHERE workflow = ? AND state = 'running' AND inputs LIKE ?"
        return [run for (run,) in self._connection.execute(query, (workflow, wanted))]

    async def send_event(self, run: str, name: str, data: Any, *, source: str = "") -> None:
        self.sources.append(source)
        if await self.state(run) is None:
            raise NotFound(f"There is no run {run}.")
        self.events.append((run, name, data))

    def end(self) -> None:
        self._connection.execute("UPDATE runs SET state = 'finished'")

    @property
    def runs(self) -> list[str]:
        return [run for (run,) in self._connection.execute("SELECT run FROM runs ORDER BY run")]

    @property
    def inputs(self) -> list[str]:
        return [inputs for (inputs,) in self._connection.execute("SELECT inputs FROM runs ORDER BY run")]


class Stopped(BaseException):
    """The host was killed at this point."""


BUSY = ServerUnavailable("The engine is starting.")


class Automation:
    """A host's triggers; `restart` makes a new scheduler on the same database, as another host would."""

    def __init__(self, store: StoredTriggers, runs: RecordedRuns, clock: TurnedClock) -> None:
        self.store, self.runs, self.clock = store, runs, clock
        self.workflows: dict[str, Workflow] = {}
        self.invalid = ""
        self.scheduler = self.restart()

    def restart(self, machine: str = "here") -> Scheduler:
        starter = RunStarter(self.store, self, self.runs, self.clock)
        self.scheduler = Scheduler(self.store, self, starter, self.clock, machine)
        return self.scheduler

    async def workflow(self, name: str) -> Workflow:
        if name not in self.workflows:
            raise NotFound(f"There is no workflow called {name!r}.")
        if self.invalid:
            raise NotFound(self.invalid)
        return self.workflows[name]

    def define(self, name: str, *triggers: Trigger, **inputs: Any) -> Workflow:
        document = {"name": name, "inputs": inputs, "triggers": triggers}
        self.workflows[name] = Workflow.model_validate(document)
        return self.workflows[name]

    async def turn_on(self, name: str, key: str = "schedule", **more: Any) -> Activation:
        defined = find_defined(self.workflows[name], key)
        assert defined is not None
        assert defined.type is not None
        assert not defined.problems, defined.problems
        now = self.clock.now()
        found = await defined.type.begin(defined.settings, now)
        values = {"machine": "here", "position": found.position or "", **more}
        activation = Activation(
            workflow=name, trigger=key, on=True, fingerprint=defined.fingerprint, since=now, **values
        )
        await self.store.turn_on(activation, found)
        self.scheduler.wake()
        return activation

    async def schedule(self, cron: str, **settings: Any) -> None:
        settings = {"cron": cron, "timezone": "Europe/Berlin", **settings}
        self.define("report", Trigger(type="schedule", settings=settings))
        await self.turn_on("report")

    async def pass_time(self, seconds: float, step: float = 1.0) -> None:
        """Let time pass while the host runs."""
        for _ in range(int(seconds / step)):
            self.clock.turn(step)
            await self.scheduler.tick()

    async def starts(self, name: str = "report", key: str = "schedule") -> Sequence[StartRecord]:
        return await self.store.latest(name, key, 1000)


@pytest.fixture
async def automation(tmp_path: Path) -> AsyncIterator[Automation]:
    clock = TurnedClock(MONDAY)
    async with open_database(tmp_path / "store.db") as database:
        yield Automation(StoredTriggers(database), RecordedRuns(tmp_path / "runs.db"), clock)
