"""Runs of workflows: start, follow, stop, repeat and inspect them."""

from __future__ import annotations

import asyncio
import base64
from typing import Annotated, Any

from pydantic import Field

from toolcrib.errors import NotFound, UsageError
from toolcrib.features.workflows.files import StoredWorkflow
from toolcrib.features.workflows.inputs import read_inputs
from toolcrib.features.workflows.records import RunRecord, StepRecord
from toolcrib.features.workflows.results.runs import (
    ComparedRun,
    EngineInstalling,
    RunAction,
    RunArtifact,
    RunChange,
    RunComparison,
    RunList,
    RunResult,
    RunShown,
    RunState,
    StepTrace,
    compare_runs,
    question_json,
    run_json,
    run_result,
    run_summary,
    step_json,
    trace_json,
)
from toolcrib.features.workflows.service import parse
from toolcrib.host import Host
from toolcrib.operations.event_relay import relay
from toolcrib.operations.operation import (
    EVERYTHING,
    RUNNING,
    Configured,
    Emit,
    Invocation,
    JsonObject,
    Names,
    Needs,
    Strings,
    operation,
)
from toolcrib.operations.results.approvals import WaitingItem, waiting_item
from toolcrib.schema.json_values import moment
from toolcrib.schema.workflows import Workflow


def _run_needs(params: Any, configured: Configured) -> Needs:
    """A run in the background needs a host that keeps running."""
    return RUNNING if params.detach else EVERYTHING


def _resume_needs(params: Any, configured: Configured) -> Needs:
    return EVERYTHING if params.wait else RUNNING


@operation(page=True, needs=_run_needs)
async def workflow_run(
    host: Host,
    invocation: Invocation[RunChange | EngineInstalling],
    *,
    name: str | None = None,
    workflow: dict[str, Any] | None = None,
    text: str | None = None,
    inputs: JsonObject,
    texts: Strings,
    breakpoints: Names,
    detach: bool = False,
    replay: str | None = None,
) -> RunResult:
    """Run a stored workflow by name, or a given one, and wait for its end.

    Emits every change of the run. Raises `UsageError` if the workflow or its inputs are not valid.
    `text`: the text of a workflow's file.
    `texts`: inputs as text, which get their declared types.
    `breakpoints`: ids of nodes before which the run pauses.
    `detach`: return at once; the run continues in the background.
    `replay`: a finished run whose recorded decisions of models are used instead of asking again.
    """
    chosen = await _chosen(host, name, workflow if text is None else text)
    given = read_inputs(chosen, inputs, texts)
    host.workflows.check(chosen)
    await _open(host, invocation.emit)
    run = await host.workflows.runs.start(chosen, given, breakpoints=breakpoints, replay=replay)
    return await _started(host, run, None if detach else invocation.emit)


@operation(page=True)
async def workflow_runs(
    host: Host,
    *,
    name: str | None = None,
    state: RunState | None = None,
    limit: Annotated[int, Field(ge=1, le=1000)] = 50,
    before: str | None = None,
    each: Annotated[int, Field(ge=1, le=100)] | None = None,
) -> RunList:
    """List runs, the latest first.

    `before`: the id of a run; only earlier ones are listed.
    `each`: list the latest so many of each stored workflow, and `limit` runs that wait for the user.
    """
    if each is not None:
        names = await asyncio.to_thread(host.workflows.files.names)
        shown = await host.workflows.runs.latest(names, each, limit)
        return {"runs": [run_summary(run) for run in shown], "more": False, "failed_starts": 0}
    found = await host.workflows.runs.list(name=name, state=state, limit=limit + 1, before=before)
    listed = state in (None, "failed") and before is None
    return {
        "runs": [run_summary(run) for run in found[:limit]],
        "more": len(found) > limit,
        "failed_starts": await host.workflows.triggers.store.count_failed(name) if listed else 0,
    }


@operation(page=True)
async def workflow_show(host: Host, run: str, *, definition: bool = False) -> RunShown:
    """Show a run and its steps.

    Raises `NotFound`.
    `run`: its id, the beginning of it, or `last`.
    `definition`: include the workflow as it was when the run began.
    """
    runs = host.workflows.runs
    found = await _get(host, run)
    start, path = await runs.started_with(found.run), await runs.path(found.run)
    return run_json(found, start, path, definition=definition)


@operation(page=True)
async def workflow_step(host: Host, run: str, step: str) -> StepTrace:
    """Show everything that is recorded about one step.

    Raises `NotFound`.
    """
    found = await host.workflows.runs.get(run)
    return trace_json(found.run, await host.workflows.runs.step(found.run, step))


@operation(page=True)
async def workflow_artifact(host: Host, run: str, id: str) -> RunArtifact:
    """Return a file that a step stored, such as a screenshot.

    Raises `NotFound`.
    """
    found = await host.workflows.runs.get(run)
    media_type, data = await host.workflows.runs.artifact(found.run, id)
    return {
        "run": found.run,
        "id": id,
        "media_type": media_type,
        "bytes": len(data),
        "data": base64.b64encode(data).decode(),
    }


@operation(page=True)
async def workflow_cancel(host: Host, run: str) -> RunAction:
    """Cancel a run; the step that is running is stopped.

    Raises `NotFound`, or `UsageError` if it has ended.
    """
    return _action(await host.workflows.runs.cancel(run))


@operation(page=True, needs=RUNNING)
async def workflow_pause(host: Host, run: str) -> RunAction:
    """Pause a run before its next step.

    Raises `NotFound`, or `UsageError` if it has ended.
    """
    return _action(await host.workflows.runs.pause(run))


@operation(page=True, needs=_resume_needs)
async def workflow_resume(
    host: Host, invocation: Invocation[RunChange | EngineInstalling], run: str, *, wait: bool = False
) -> RunResult:
    """Continue a run that is paused, or that was interrupted.

    Raises `NotFound`, or `UsageError` if it has ended.
    `wait`: wait for its end, and emit every change of it.
    """
    await _open(host, invocation.emit, take_over=True)
    resumed = await host.workflows.runs.resume(run)
    return await _started(host, resumed.run, invocation.emit if wait else None)


@operation(page=True, needs=RUNNING)
async def workflow_step_once(host: Host, run: str) -> RunAction:
    """Let a paused run take one step, and pause again.

    Raises `NotFound`, or `UsageError` if it is not paused.
    """
    return _action(await host.workflows.runs.step_once(run))


@operation(page=True, needs=_run_needs)
async def workflow_rerun(
    host: Host,
    invocation: Invocation[RunChange | EngineInstalling],
    run: str,
    *,
    from_node: str | None = None,
    inputs: JsonObject,
    texts: Strings,
    detach: bool = False,
) -> RunResult:
    """Run the workflow of an earlier run again, as a new run.

    Raises `NotFound`, or `UsageError` if the run never came to that node. A run that its trigger could not
    start is started now, with its event.
    `from_node`: take over the recorded steps before the first visit of this node.
    `inputs`, `texts`: replace these inputs.
    """
    await _open(host, invocation.emit)
    if await host.workflows.triggers.store.startable(run) is not None:
        await host.workflows.triggers.start_again(new := run)
    else:
        new = await host.workflows.runs.rerun(run, from_node=from_node, inputs=inputs, texts=texts)
    return await _started(host, new, None if detach else invocation.emit)


@operation(page=True)
async def workflow_answer(
    host: Host, run: str, step: str, choice: str, *, values: JsonObject, comment: str = ""
) -> RunAction:
    """Answer the question of a step.

    Raises `NotFound` if it does not wait, or `UsageError` for an answer that does not fit.
    """
    runs = host.workflows.runs
    return _action(await runs.answer(run, step, choice=choice, values=values, comment=comment))


@operation(page=True)
async def workflow_event(host: Host, run: str, name: str, *, data: Any = None) -> RunAction:
    """Send an event to a run, for a step that waits for it by name.

    Raises `NotFound`, or `UsageError` if the run has ended.
    """
    return _action(await host.workflows.runs.send_event(run, name, data))


@operation(page=True)
async def workflow_compare(host: Host, run_a: str, run_b: str) -> RunComparison:
    """Compare two runs step by step.

    Raises `NotFound`.
    """
    return compare_runs(await _compared(host, run_a), await _compared(host, run_b))


@operation(page=True, needs=RUNNING)
async def workflow_watch(host: Host, invocation: Invocation[RunChange], run: str) -> RunResult:
    """Emit every change of a run until it ends.

    Raises `NotFound`.
    """
    return await _started(host, run, invocation.emit)


async def _get(host: Host, run: str) -> RunRecord:
    """A run; one that a trigger could not start says why."""
    try:
        found: RunRecord = await host.workflows.runs.get(run)
    except NotFound:
        start = await host.workflows.triggers.store.start_of(run)
        if start is None or start.state not in ("failed", "skipped"):
            raise
        hint = f"Start it now: toolcrib workflow rerun {run}" if start.event is not None else ""
        raise NotFound(f"{run} was not started: {start.note}", hint=hint) from None
    return found


async def _chosen(host: Host, name: str | None, workflow: dict[str, Any] | str | None) -> Workflow:
    if (name is None) == (workflow is None):
        raise UsageError("Give either the name of a stored workflow, or a workflow.")
    if workflow is not None:
        return parse(workflow)
    stored: StoredWorkflow = await host.workflows.get(name or "")
    return stored.readable


async def _open(host: Host, emit: Emit, *, take_over: bool | None = None) -> None:
    """Open the engine; its packages are installed on first use."""
    async with relay(emit) as show:
        await host.workflows.runs.open(lambda text: show({"installing": text}), take_over=take_over)


async def _started(host: Host, run: str, emit: Emit | None) -> RunResult:
    """The run now, or at its end if `emit` gets its changes."""
    runs = host.workflows.runs
    if emit is None:
        return run_result(await runs.get(run))
    latest: RunRecord | None = None
    async for latest, step in runs.changes(run):
        await emit(_change(latest, step))
    assert latest is not None
    return run_result(latest)


async def _compared(host: Host, run: str) -> ComparedRun:
    runs = host.workflows.runs
    found = await runs.get(run)
    return ComparedRun(found, (await runs.started_with(found.run)).inputs, await runs.steps(found.run))


def _change(run: RunRecord, step: StepRecord | None) -> RunChange:
    return {
        "run": run.run,
        "workflow": run.workflow,
        "state": run.state,
        "step": None if step is None else step_json(step),
        "question": question_json(run.questions[0]) if run.questions else None,
    }


def _action(run: RunRecord) -> RunAction:
    return {"run": run.run, "state": run.state}


async def waiting_questions(host: Host) -> list[WaitingItem]:
    """What runs ask the user, if this host runs any."""
    runs = host.workflows.runs
    if not runs.engine.is_open:
        return []
    return [
        waiting_item(
            "workflow",
            id=question.step,
            durable=True,
            run=run.run,
            principal=f"workflow:{run.workflow}",
            reason=question.text,
            detail=dict(question_json(question)),
            since=moment(question.asked),
        )
        for run, question in await runs.questions()
    ]
