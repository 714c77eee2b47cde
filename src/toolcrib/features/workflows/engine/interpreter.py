"""The one workflow that DBOS knows: it walks a compiled graph and makes each visit of a node a step."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from dbos import DBOS, SetEnqueueOptions, SetWorkflowID

from toolcrib.clock import Clock
from toolcrib.errors import ToolcribError
from toolcrib.features.workflows.engine.attempts import Attempts, check_all
from toolcrib.features.workflows.engine.children import Children
from toolcrib.features.workflows.engine.database import Database
from toolcrib.features.workflows.engine.dbos_internals import DBOSWorkflowConflictIDError, owner_token
from toolcrib.features.workflows.engine.documents import Document, Documents, Plan, info_of, map_item
from toolcrib.features.workflows.engine.guard import Guard
from toolcrib.features.workflows.engine.runtime import Runtime, stop_lost
from toolcrib.features.workflows.engine.serializer import CALLED, JsonSerializer, RunFailed
from toolcrib.features.workflows.engine.visit_context import VisitContext
from toolcrib.features.workflows.engine.waits import Waits
from toolcrib.features.workflows.ports import RunServices
from toolcrib.features.workflows.records import path_in, with_parents
from toolcrib.graph.trace import Outcome, Trace, error_of
from toolcrib.graph.walk import Visit, Walk, WalkEnd
from toolcrib.schema.workflows import StepState
from toolcrib.tasks import being_cancelled

logger = logging.getLogger(__name__)

NAME = "toolcrib_run"
MOST_RESTARTS = 1000
"""A run that was interrupted more often fails: it may be what stops the process."""

CHECKS = "(checks)"

_current: Runtime | None = None
"""DBOS is one for a process, and so is what its workflow runs on."""


class Execution:
    """Runs visits until it is stopped: the run was cancelled, another worker has it, or the engine closes."""

    def __init__(
        self, runtime: Runtime, *, run: str, root: str, path: str, owner: str | None, plan: Plan, walk: Walk
    ) -> None:
        self.runtime = runtime
        self.run = run
        self.root = root
        self.path = path
        self.owner = owner
        self.plan = plan
        self.walk = walk
        self.info = info_of(root, plan)
        self.guard = Guard(runtime.database, runtime.clock, run, owner)
        self.children = Children(self)
        self.started: datetime | None = None
        self.stopped: BaseException | None = None
        self.states: dict[str, StepState] = {}
        self._visit: asyncio.Task[Trace] | None = None
        self._live = False
        self.confirmed = runtime.clock.monotonic()
        """When this worker last knew that the run is its own."""

    @property
    def clock(self) -> Clock:
        return self.runtime.clock

    @property
    def services(self) -> RunServices:
        return self.runtime.services

    @property
    def waits(self) -> Waits:
        return self.runtime.waits

    @property
    def database(self) -> Database:
        return self.runtime.database

    @property
    def documents(self) -> Documents:
        return self.runtime.documents

    @property
    def given_up(self) -> bool:
        """Whether what it started is no longer wanted; else it goes on later, here or in another worker."""
        return self.stopped is None and not self.runtime.closing

    @property
    def busy(self) -> bool:
        """Whether a visit is working, in contrast to waiting."""
        return bool(self._visit) and "running" in self.states.values()

    @property
    def serializer(self) -> JsonSerializer:
        return self.runtime.serializer

    async def perform(self, visit: Visit) -> dict[str, Any]:
        """Run a visit that is not recorded yet; its trace as it is stored."""
        if self.stopped is not None:
            raise self.stopped
        if self.runtime.closing:
            await asyncio.Future()
        await self.confirm()
        await self._begin()
        return self._stored(await self._stoppable(self._perform(visit)))

    def _stored(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """What is recorded of this run, without its secrets."""
        return self.serializer.named(self.plan.secrets.hide(value), self.run)

    async def check_run(self) -> dict[str, Any]:
        """Whether the checks of the whole workflow hold; part of the last step's record."""
        await self._begin()
        context = VisitContext(self, "(checks)", "")
        try:
            await check_all(self.info.workflow.checks, context, self.walk.values)
        except ToolcribError as error:
            return self._stored({"error": error_of(error), "notes": context.notes})
        return self._stored({"error": None, "notes": context.notes})

    async def confirm(self) -> None:
        """After a delay in which another worker may have taken the run, ask before anything happens."""
        while self.clock.monotonic() - self.confirmed > self.runtime.stale_after:
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
        return max(0.0, limit - (self.clock.now() - self.started).total_seconds())

    async def _begin(self) -> None:
        if self._live:
            return
        self._live = True
        await self.runtime.controls.enter(self.root)
        await self.guard.load()
        if self.run == self.root:
            await self.services.begin_run(self.info)
            if sources := await self.waits.sources(self.root):
                await self.services.add_results(self.info, sources)

    async def _perform(self, visit: Visit) -> Trace:
        step = self.path + visit.step
        await self.runtime.controls.gate(self.root, step, visit.node, lambda: self.changed(visit.step))
        self.started = self.started or self.clock.now()
        with self.state(visit.step, "running"):
            return await Attempts(self, visit).run()

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
            await self.services.end_run(self.info)
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


def is_used() -> bool:
    return _current is not None


def use(runtime: Runtime | None) -> None:
    global _current
    _current = runtime


@DBOS.workflow(name=NAME, max_recovery_attempts=MOST_RESTARTS)
async def run_graph(document: Document) -> dict[str, Any]:
    """A run or an item of a map: its outputs."""
    run = DBOS.workflow_id
    if _current is None or run is None:
        raise RuntimeError("The workflow engine is not open.")
    try:
        execution = await _open(_current, run, document)
    except ToolcribError as error:
        raise RunFailed(error_of(error)) from None
    try:
        end = await _walk(execution)
        if end.error is None and execution.info.workflow.checks and execution.run == execution.root:
            await _check(execution)
        called = _called(execution)
    finally:
        await asyncio.shield(_close(execution))
    hide = execution.plan.secrets.hide
    if end.error is not None:
        raise RunFailed({**hide(end.error), **called})
    return _current.serializer.named({"outputs": hide(end.outputs), **called}, run)


async def start(run: str, document: Document, queue: str | None = None, partition: str | None = None) -> Any:
    """Start a run, or find it; a handle. Never called inside the context of another run."""
    if _current is not None:
        document = _current.serializer.named(document, run)
    with SetWorkflowID(run):
        if queue is None:
            return await DBOS.start_workflow_async(run_graph, document)
        with SetEnqueueOptions(queue_partition_key=partition):
            return await DBOS.enqueue_workflow_async(queue, run_graph, document)


async def _open(runtime: Runtime, run: str, document: Document) -> Execution:
    runtime.serializer.check_run(document, run)
    root = document.get("root", run)
    plan = await runtime.documents.plan(root, None if "item" in document else document)
    walk, _ = plan.walk(map_item(document, plan.secrets))
    execution = Execution(
        runtime,
        run=run,
        root=root,
        path=document.get("path", ""),
        owner=owner_token(run),
        plan=plan,
        walk=walk,
    )
    if (earlier := runtime.active.get(run)) is not None:
        earlier.stop(DBOSWorkflowConflictIDError(run))  # This process lost the run, and now has it again.
    runtime.active[run] = execution
    return execution


async def _walk(execution: Execution) -> WalkEnd:
    walk = execution.walk
    while isinstance(visit := walk.next(), Visit):
        trace = await _record(execution, visit)
        execution.started = execution.started or datetime.fromisoformat(trace["started"])
        walk.record(Outcome.of(trace))
        execution.changed(visit.step)
    return visit


async def _record(execution: Execution, visit: Visit) -> dict[str, Any]:
    """The trace of a visit: what was recorded, or else what happens now."""
    try:
        recorded = await DBOS.run_step_async({"name": visit.step}, execution.perform, visit)
        execution.serializer.check_step(recorded, execution.run, visit.step)
        return dict(execution.plan.secrets.reveal(recorded))
    except Exception as error:
        # A visit never fails like this: its failures are part of its trace.
        raise RunFailed({**error_of(error), "node": visit.node}) from error


async def _check(execution: Execution) -> None:
    """The checks of the workflow, after its last node."""
    checked = await DBOS.run_step_async({"name": CHECKS}, execution.check_run)
    execution.serializer.check_step(checked, execution.run, None)
    if checked["error"] is not None:
        raise RunFailed(checked["error"])


def _called(execution: Execution) -> dict[str, Any]:
    """The tools whose results a sub-workflow gives to the run that it is part of."""
    if execution.info.parent is None or execution.run != execution.root:
        return {}
    return {CALLED: sorted(execution.services.tools_called(execution.info))}


async def _close(execution: Execution) -> None:
    if execution.runtime.active.get(execution.run) is execution:
        del execution.runtime.active[execution.run]
    await execution.end()
