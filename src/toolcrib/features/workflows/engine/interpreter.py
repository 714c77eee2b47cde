"""The one workflow that DBOS knows: it walks a compiled graph and makes each visit of a node a step. Limits
how often an interrupted run is restarted.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

from dbos import DBOS, SetEnqueueOptions, SetWorkflowID

from toolcrib.errors import ToolcribError
from toolcrib.features.workflows.engine.dbos_internals import (
    DBOSWorkflowConflictIDError,
    owner_token,
)
from toolcrib.features.workflows.engine.documents import (
    Document,
    map_item,
)
from toolcrib.features.workflows.engine.runtime import Execution, Runtime
from toolcrib.features.workflows.engine.serializer import CALLED, RunFailed
from toolcrib.features.workflows.engine.visits import CHECKS, check_workflow, run_visit
from toolcrib.graph.trace import Outcome, error_of
from toolcrib.graph.walk import Visit, WalkEnd

NAME = "toolcrib_run"
MOST_RESTARTS = 1000
"""A run that was interrupted more often fails: it may be what stops the process."""

_current: Runtime | None = None
"""DBOS is one for a process, and so is what its workflow runs on."""


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


async def start_and_wait(run: str, document: Document) -> Any:
    return await (await start(run, document)).get_result()


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
        start=start_and_wait,
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
        recorded = await DBOS.run_step_async({"name": visit.step}, execution.perform, visit, run_visit)
        execution.runtime.serializer.check_step(recorded, execution.run, visit.step)
        return dict(execution.plan.secrets.reveal(recorded))
    except Exception as error:
        # A visit never fails like this: its failures are part of its trace.
        raise RunFailed({**error_of(error), "node": visit.node}) from error


async def _check(execution: Execution) -> None:
    """The checks of the workflow, after its last node."""
    checked = await DBOS.run_step_async({"name": CHECKS}, check_workflow, execution)
    execution.runtime.serializer.check_step(checked, execution.run, None)
    if checked["error"] is not None:
        raise RunFailed(checked["error"])


def _called(execution: Execution) -> dict[str, Any]:
    """The tools whose results a sub-workflow gives to the run that it is part of."""
    if execution.info.parent is None or execution.run != execution.root:
        return {}
    return {CALLED: sorted(execution.runtime.services.tools_called(execution.info))}


async def _close(execution: Execution) -> None:
    if execution.runtime.active.get(execution.run) is execution:
        del execution.runtime.active[execution.run]
    await execution.end()
