"""A run that is active in this process, and what all runs of one engine share: pausing, breakpoints and
single steps, calls that must not be repeated, runs that another worker took over.

Pause, breakpoints and single steps: each visit asks here before it begins. The state is a row of the run, so
a paused run stays paused over a restart and any worker can change it. A sub-workflow also stops while a run
that it is part of is paused.

Calls that must not be repeated: each is recorded before it begins. A record that is found when a visit runs
again means that the call was under way when its worker stopped. The record is written and removed only while
this worker still has the run: a worker that lost it begins nothing, and hides nothing that another one began.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from toolcrib.clock import Clock
from toolcrib.config.database_key import Signer
from toolcrib.features.workflows.engine.database import RunDatabase, insert_of
from toolcrib.features.workflows.engine.dbos_internals import (
    DBOSWorkflowCancelledError,
    DBOSWorkflowConflictIDError,
)
from toolcrib.features.workflows.engine.documents import Document, Documents, RunPlan, info_of
from toolcrib.features.workflows.engine.outcomes import status
from toolcrib.features.workflows.engine.serializer import JsonSerializer
from toolcrib.features.workflows.engine.tables import begun, runs, waits
from toolcrib.features.workflows.engine.waits import Waits
from toolcrib.features.workflows.ports import RunServices
from toolcrib.features.workflows.records import path_in, with_parents
from toolcrib.features.workflows.secret_inputs import NO_KEY, RunKey
from toolcrib.graph.trace import Trace
from toolcrib.graph.walk import Visit, Walk
from toolcrib.schema.workflows import StepState
from toolcrib.tasks import being_cancelled

Key = tuple[str | None, ...]

logger = logging.getLogger(__name__)
CHUNK = 400

T = TypeVar("T")
OnChange = Callable[[str, str | None], None]
Start = Callable[[str, Document], Awaitable[Any]]
RunVisit = Callable[["Execution", Visit], Awaitable[Trace]]


class Prepared:
    """One statement in each dialect, compiled once. The driver gets the values, by the names of parameters.

    Building and compiling a statement costs several times as much CPU as SQLite needs to run it.
    """

    def __init__(self, build: Callable[[sa.Dialect], sa.UpdateBase | sa.Select[Any]]) -> None:
        self._build = build
        self._compiled: dict[Key, str] = {}

    def run(self, connection: sa.Connection, **values: Any) -> sa.CursorResult[Any]:
        schemas = connection.get_execution_options().get("schema_translate_map", {})
        key = (connection.dialect.name, *schemas.values())
        text = self._compiled.get(key) or self._compile(connection.dialect, schemas, key)
        return connection.exec_driver_sql(text, values)

    def _compile(self, dialect: sa.Dialect, schemas: Mapping[str, str | None], key: Key) -> str:
        statement = self._build(dialect)
        compiled = statement.compile(
            dialect=_with_names(dialect), schema_translate_map=schemas, render_schema_translate=True
        )
        text = self._compiled[key] = str(compiled)
        return text


def _with_names(dialect: sa.Dialect) -> sa.Dialect:
    """By default the parameters of SQLite have no names."""
    if dialect.name != "sqlite":
        return dialect
    named = sqlite.dialect(paramstyle="named")
    named.default_schema_name = dialect.default_schema_name
    return named


def _build_begin(dialect: sa.Dialect) -> sa.UpdateBase:
    """Record a call, but only while this worker has the run.

    The lock on the row of the run keeps it with this worker until the record is committed.
    """
    values = [sa.bindparam(column.name, type_=column.type) for column in begun.c]
    mine = (
        sa.select(*values)
        .select_from(status)
        .where(status.c.workflow_uuid == sa.bindparam("run"))
        .where(status.c.owner_xid.is_not_distinct_from(sa.bindparam("owner", type_=sa.Text)))
        .with_for_update(key_share=True)
    )
    return insert_of(dialect, begun).from_select(list(begun.c), mine).on_conflict_do_nothing()


_begin = Prepared(_build_begin)


class CallGuard:
    """The begun calls of one run, in this process."""

    def __init__(self, database: RunDatabase, clock: Clock, run: str, owner: str | None) -> None:
        self._database = database
        self._clock = clock
        self._run = run
        self._owner = owner
        self._found: dict[str, list[str]] = {}
        self._numbers: dict[str, int] = {}
        self.held: set[tuple[str, int]] = set()
        """Steps in which an earlier process waited for a server, and the numbers of the waits."""

    async def load(self) -> None:
        """Read what earlier processes began; once, before the first live visit."""
        rows, self.held = await self._database.run(self._read)
        for step, number, tool in rows:
            self._found.setdefault(step, []).append(tool)
            self._numbers[step] = max(number, self._numbers.get(step, 0))

    def unfinished(self, step: str) -> list[str]:
        """The tools of calls that began in an earlier process, and of which the outcome is unknown."""
        return self._found.get(step, [])

    async def begin(self, step: str, tool: str) -> None:
        """Raises `DBOSWorkflowConflictIDError` if another worker has the run."""
        number = self._numbers[step] = self._numbers.get(step, 0) + 1
        await self._database.run(lambda connection: self._write(connection, step, number, tool))

    async def take_back(self, step: str) -> None:
        """The call that began last was not made yet: it waits for an approval. Raises like `begin`."""
        if number := self._numbers.get(step, 0):
            self._numbers[step] = number - 1
            await self._database.run(lambda connection: self._delete_last(connection, step, number))

    async def clear(self, step: str) -> None:
        """The calls of this visit have a known outcome, or the user wants them again.

        The question about them goes with them, so that a later interruption asks again. Raises like `begin`.
        """
        if self._numbers.pop(step, 0):
            self._found.pop(step, None)
            await self._database.run(lambda connection: self._delete(connection, step))

    def _read(self, connection: sa.Connection) -> tuple[list[tuple[str, int, str]], set[tuple[str, int]]]:
        mine = sa.select(begun.c.step, begun.c.number, begun.c.tool).where(begun.c.run == self._run)
        mine_held = (waits.c.run == self._run, waits.c.kind == "server")
        held = connection.execute(sa.select(waits.c.step, waits.c.number).where(*mine_held))
        rows = [(row.step, row.number, row.tool) for row in connection.execute(mine)]
        return rows, {(row.step, row.number) for row in held}

    def _write(self, connection: sa.Connection, step: str, number: int, tool: str) -> None:
        started = self._clock.now().timestamp()
        record = {"run": self._run, "step": step, "number": number, "tool": tool, "started": started}
        if not _begin.run(connection, **record, owner=self._owner).rowcount:
            self._check_owner(connection)  # else the record exists: the answer to its commit was lost

    def _check_owner(self, connection: sa.Connection) -> None:
        """The lock on the row keeps the run with this worker until the transaction is committed."""
        current = sa.select(status.c.owner_xid).where(status.c.workflow_uuid == self._run)
        if not self._database.is_sqlite:
            current = current.with_for_update(key_share=True)
        if connection.execute(current).scalar() != self._owner:
            raise DBOSWorkflowConflictIDError(self._run)

    def _delete_last(self, connection: sa.Connection, step: str, number: int) -> None:
        last = (begun.c.run == self._run, begun.c.step == step, begun.c.number == number)
        connection.execute(sa.delete(begun).where(*last))
        self._check_owner(connection)

    def _delete(self, connection: sa.Connection, step: str) -> None:
        connection.execute(sa.delete(begun).where(begun.c.run == self._run, begun.c.step == step))
        asked = (waits.c.run == self._run, waits.c.step == step, waits.c.kind == "uncertain")
        connection.execute(sa.delete(waits).where(*asked))
        self._check_owner(connection)


async def stop_lost(runtime: Runtime, names: list[str]) -> None:
    """Stop the visits of runs that were cancelled or that another worker has."""
    now = runtime.clock.monotonic()
    for start in range(0, len(names), CHUNK):
        query = sa.select(status.c.workflow_uuid, status.c.status, status.c.owner_xid).where(
            status.c.workflow_uuid.in_(names[start : start + CHUNK])
        )
        for row in await runtime.database.run(lambda c, query=query: list(c.execute(query))):  # type: ignore[misc]
            if row.workflow_uuid in runtime.active:
                stop_if_lost(runtime.active[row.workflow_uuid], row.status, row.owner_xid)
    for name in names:
        if name in runtime.active:
            runtime.active[name].confirmed = now


def stop_if_lost(execution: Execution, state: str, owner: str | None) -> None:
    if state == "CANCELLED":
        execution.stop(DBOSWorkflowCancelledError(f"{execution.run} was cancelled."))
    elif owner != execution.owner:
        execution.stop(DBOSWorkflowConflictIDError(execution.run))


class VisitPlace(NamedTuple):
    """A visit as one run sees it."""

    run: str
    step: str
    node: str
    """Empty in a run that it only belongs to as a part of a sub-workflow: breakpoints are for own nodes."""


def places(root: str, step: str, node: str) -> list[VisitPlace]:
    """The visit in all runs that it is part of, the outermost first."""
    *parents, _ = with_parents(root)
    return [
        *(VisitPlace(run, path_in(root, run) + step, "") for run in parents),
        VisitPlace(root, step, node),
    ]


@dataclass
class RunControl:
    """How a run that is active in this process is controlled."""

    paused: bool = False
    breakpoints: frozenset[str] = frozenset()
    passed: frozenset[str] = frozenset()
    """Visits that may begin although the run is paused or they have a breakpoint."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def stops(self, step: str, node: str) -> bool:
        return (self.paused or node in self.breakpoints) and step not in self.passed

    def update(self, row: Any) -> None:
        fresh = (bool(row.paused), _set(row.breakpoints), _set(row.passed))
        if fresh != (self.paused, self.breakpoints, self.passed):
            self.paused, self.breakpoints, self.passed = fresh
            self.changed.set()


class Controls:
    """The controls of all runs that are active in this process."""

    def __init__(self, database: RunDatabase) -> None:
        self._database = database
        self._active: dict[str, RunControl] = {}
        self._users: dict[str, int] = {}

    async def enter(self, root: str) -> None:
        """Keep the controls of a run, and of those that it is part of, at hand. Ends with `leave`."""
        names = with_parents(root)
        for name in names:
            self._users[name] = self._users.get(name, 0) + 1
            self._active.setdefault(name, RunControl())
        await self.refresh(names)

    def leave(self, root: str) -> None:
        for name in with_parents(root):
            self._users[name] -= 1
            if not self._users[name]:
                del self._users[name], self._active[name]

    async def gate(self, root: str, step: str, node: str, paused: Callable[[], None]) -> None:
        """Return when this visit may begin."""
        stopped = True
        while stopped:
            stopped = False
            for place in places(root, step, node):
                stopped = await self._hold(place, paused) or stopped

    async def _hold(self, place: VisitPlace, paused: Callable[[], None]) -> bool:
        """Wait while the visit is stopped in this run; whether it was."""
        control = self._active[place.run]
        if not control.stops(place.step, place.node):
            return False
        await self._change(place.run, lambda row: {"paused_at": _with(row.paused_at, place.step)})
        paused()
        while control.stops(place.step, place.node):
            control.changed.clear()
            await control.changed.wait()
        await self._change(place.run, lambda row: {"paused_at": _without(row.paused_at, place.step)})
        return True

    async def pause(self, root: str) -> bool:
        return await self._change(root, lambda row: {"paused": True})

    async def resume(self, root: str) -> bool:
        return await self._change(root, lambda row: {"paused": False, "passed": row.paused_at})

    async def step(self, root: str) -> bool:
        """Let the visits begin before which the run is paused, and pause again after them."""
        return await self._change(root, lambda row: {"paused": True, "passed": row.paused_at})

    async def refresh(self, roots: Iterable[str] | None = None) -> None:
        """Read the rows again, for changes by other processes."""
        names = list(self._active if roots is None else roots)
        for start in range(0, len(names), CHUNK):
            await self._refresh(names[start : start + CHUNK])

    async def _refresh(self, names: list[str]) -> None:
        chosen = sa.select(runs).where(runs.c.run.in_(names))
        for row in await self._database.run(lambda connection: list(connection.execute(chosen))):
            if row.run in self._active:
                self._active[row.run].update(row)

    async def _change(self, root: str, change: Callable[[Any], dict[str, Any]]) -> bool:
        row = await self._database.run(lambda connection: _changed(connection, root, change))
        if row is not None and root in self._active:
            self._active[root].update(row)
        return row is not None


def _changed(connection: sa.Connection, root: str, change: Callable[[Any], dict[str, Any]]) -> Any:
    # A write first, so that the row is locked while its new content is computed.
    connection.execute(sa.update(runs).where(runs.c.run == root).values(run=runs.c.run))
    row = connection.execute(sa.select(runs).where(runs.c.run == root)).one_or_none()
    if row is None:
        return None
    values = {
        key: json.dumps(value) if isinstance(value, list) else value for key, value in change(row).items()
    }
    connection.execute(sa.update(runs).where(runs.c.run == root).values(**values))
    return connection.execute(sa.select(runs).where(runs.c.run == root)).one()


def _with(steps: str, step: str) -> list[str]:
    return sorted({*json.loads(steps), step})


def _without(steps: str, step: str) -> list[str]:
    return sorted({*json.loads(steps)} - {step})


def _set(text: str) -> frozenset[str]:
    return frozenset(json.loads(text))


@dataclass
class Runtime:
    """The parts that visits use, and the runs that are active in this process."""

    database: RunDatabase
    clock: Clock
    services: RunServices
    on_change: OnChange
    waits: Waits
    controls: Controls
    documents: Documents
    serializer: JsonSerializer
    active: dict[str, Execution] = field(default_factory=dict)
    closing: bool = False
    stale_after: float = 5.0
    """Seconds after which a worker makes sure that a run is still its own before it begins a step."""

    @classmethod
    def over(
        cls,
        database: RunDatabase,
        clock: Clock,
        services: RunServices,
        on_change: OnChange,
        signer: Signer | None = None,
        key: RunKey = NO_KEY,
    ) -> Runtime:
        """`signer` signs what is stored, if others can write to the database; `key` is for secret inputs."""
        serializer = JsonSerializer(signer)
        return cls(
            database=database,
            clock=clock,
            services=services,
            on_change=on_change,
            waits=Waits(database, clock, serializer),
            controls=Controls(database),
            documents=Documents(database, serializer, key),
            serializer=serializer,
        )


class Execution:
    """Runs visits until it is stopped: the run was cancelled, another worker has it, or the engine closes."""

    def __init__(
        self,
        runtime: Runtime,
        *,
        run: str,
        root: str,
        path: str,
        owner: str | None,
        plan: RunPlan,
        walk: Walk,
        start: Start,
    ) -> None:
        self.runtime = runtime
        self.run = run
        self.root = root
        self.path = path
        self.owner = owner
        self.plan = plan
        self.walk = walk
        self.start = start
        """Starts a run inside of this one, or finds it, and waits for its result."""
        self.info = info_of(root, plan)
        self.guard = CallGuard(runtime.database, runtime.clock, run, owner)
        self.started: datetime | None = None
        self.stopped: BaseException | None = None
        self.states: dict[str, StepState] = {}
        self._visit: asyncio.Task[Trace] | None = None
        self._live = False
        self.confirmed = runtime.clock.monotonic()
        """When this worker last knew that the run is its own."""

    @property
    def given_up(self) -> bool:
        """Whether what it started is no longer wanted; else it goes on later, here or in another worker."""
        return self.stopped is None and not self.runtime.closing

    @property
    def busy(self) -> bool:
        """Whether a visit is working, in contrast to waiting."""
        return bool(self._visit) and "running" in self.states.values()

    async def perform(self, visit: Visit, run: RunVisit) -> dict[str, Any]:
        """Run a visit that is not recorded yet; its trace as it is stored."""
        if self.stopped is not None:
            raise self.stopped
        if self.runtime.closing:
            await asyncio.Future()
        await self.confirm()
        await self.begin()
        return self.stored(await self._stoppable(self._perform(visit, run)))

    def stored(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """What is recorded of this run, without its secrets."""
        return self.runtime.serializer.named(self.plan.secrets.hide(value), self.run)

    async def confirm(self) -> None:
        """After a delay in which another worker may have taken the run, ask before anything happens."""
        while self.runtime.clock.monotonic() - self.confirmed > self.runtime.stale_after:
            await stop_lost(self.runtime, [self.run])
            if self.stopped is not None:
                raise self.stopped

    def stop(self, reason: BaseException) -> None:
        """End the visit that is under way; `reason` is how DBOS learns why."""
        self.stopped = reason
        if self._visit is not None:
            self._visit.cancel()

    async def end(self) -> None:
        """Leave what the first live visit entered."""
        if self._live:
            self._live = False
            self.runtime.controls.leave(self.root)
            if self.run == self.root:
                await self._end_services()

    @contextmanager
    def state(self, step: str, state: StepState) -> Iterator[None]:
        """The state of a visit inside the block, for live views."""
        before = self.states.get(step)
        self._show(step, state)
        try:
            yield
        finally:
            self._show(step, before)

    def time_left(self) -> float | None:
        """Seconds until the whole run times out."""
        limit = self.info.workflow.options.timeout
        if limit is None or self.started is None:
            return limit
        return max(0.0, limit - (self.runtime.clock.now() - self.started).total_seconds())

    async def begin(self) -> None:
        """Enter what visits use, before the first that is not recorded yet."""
        if self._live:
            return
        self._live = True
        await self.runtime.controls.enter(self.root)
        await self.guard.load()
        if self.run == self.root:
            await self.runtime.services.begin_run(self.info)
            if sources := await self.runtime.waits.sources(self.root):
                await self.runtime.services.add_results(self.info, sources)

    async def _perform(self, visit: Visit, run: RunVisit) -> Trace:
        step = self.path + visit.step
        await self.runtime.controls.gate(self.root, step, visit.node, lambda: self.changed(visit.step))
        self.started = self.started or self.runtime.clock.now()
        with self.state(visit.step, "running"):
            return await run(self, visit)

    async def _stoppable(self, work: Coroutine[Any, Any, Trace]) -> Trace:
        self._visit = asyncio.create_task(work)
        try:
            return await self._visit
        except asyncio.CancelledError:
            if self.stopped is not None and not being_cancelled():
                raise self.stopped from None
            raise
        finally:
            self._visit = None

    async def _end_services(self) -> None:
        try:
            await self.runtime.services.end_run(self.info)
        except Exception:
            logger.exception("the services of a run could not be ended", extra={"run": self.root})

    def _show(self, step: str, state: StepState | None) -> None:
        if state is None:
            self.states.pop(step, None)
        else:
            self.states[step] = state
        self.changed(step)

    def changed(self, step: str | None) -> None:
        """Say that this run changed, and with it the runs that it is a sub-workflow of."""
        for run in with_parents(self.root):
            name = None if step is None else path_in(self.root, run) + self.path + step
            self.runtime.on_change(run, name)


async def outside_of_runs(work: Callable[[], Awaitable[T]]) -> T:
    """Await without the context of a run, so that DBOS does not take it for a part of that run."""

    async def worked() -> T:
        return await work()

    return await asyncio.get_running_loop().create_task(worked(), context=Context())
