"""A run that is active in this process, and what all runs of one engine share.

Pause, breakpoints and single steps: each visit asks here before it begins. The state is a row of the run, so
a paused run stays paused over a restart and any worker can change it. A sub-workflow also stops while a run
that it is part of is paused.
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

from toolcrib.clock import Clock
from toolcrib.config.database_key import Signer
from toolcrib.features.workflows.engine.database import RunDatabase
from toolcrib.features.workflows.engine.dbos_internals import (
    DBOSWorkflowCancelledError,
    DBOSWorkflowConflictIDError,
)
from toolcrib.features.workflows.engine.documents import Document, Documents, RunPlan, info_of
from toolcrib.features.workflows.engine.guard import CallGuard
from toolcrib.features.workflows.engine.outcomes import status
from toolcrib.features.workflows.engine.serializer import JsonSerializer
from toolcrib.features.workflows.engine.tables import runs
from toolcrib.features.workflows.engine.waits import Waits
from toolcrib.features.workflows.ports import RunServices
from toolcrib.features.workflows.records import path_in, with_parents
from toolcrib.features.workflows.secret_inputs import NO_KEY, RunKey
from toolcrib.graph.trace import Trace
from toolcrib.graph.walk import Visit, Walk
from toolcrib.schema.workflows import StepState
from toolcrib.tasks import being_cancelled

logger = logging.getLogger(__name__)
CHUNK = 400

T = TypeVar("T")
OnChange = Callable[[str, str | None], None]
Start = Callable[[str, Document], Awaitable[Any]]
RunVisit = Callable[["Execution", Visit], Awaitable[Trace]]


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
