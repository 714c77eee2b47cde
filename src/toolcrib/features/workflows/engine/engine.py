"""The engine as the host uses it: start runs, control them (cancel, pause, answer, send events), look at
them, delete old ones; valid ids of runs, largest event, and error messages.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import sqlalchemy as sa
from dbos import DBOS

from toolcrib.clock import may_have_jumped
from toolcrib.errors import NotFound, UsageError
from toolcrib.features.workflows.engine import interpreter
from toolcrib.features.workflows.engine.database import RunDatabase, answered_in_time
from toolcrib.features.workflows.engine.dbos_internals import Queues, SystemSchema
from toolcrib.features.workflows.engine.documents import complete_inputs, insert_run, root_document
from toolcrib.features.workflows.engine.outcomes import FINAL_STATUSES, of_family, output, status
from toolcrib.features.workflows.engine.run_reader import RunReader, RunSelection, possible_runs
from toolcrib.features.workflows.engine.runtime import Runtime, outside_of_runs, stop_if_lost
from toolcrib.features.workflows.engine.tables import begun, events, runs, waits
from toolcrib.features.workflows.graph.validation import compile_workflow
from toolcrib.features.workflows.records import FINAL, RunPath, RunQuestion, RunRecord, StepRecord
from toolcrib.features.workflows.secret_inputs import NOTHING, SecretInputs
from toolcrib.graph.node_type import UserAnswer
from toolcrib.schema.workflows import RunState, Workflow

steps = SystemSchema.operation_outputs
inputs = SystemSchema.workflow_input
AT_ONCE = 100
"""Runs that are removed in one transaction."""

FIRST_LOOK = 0.01
LAST_LOOK = 0.5
LARGEST_EVENT = 1_000_000
"""Characters of an event's data as JSON."""


@dataclass(frozen=True)
class _Size:
    run: str
    created: float
    bytes: int


def _over() -> sa.Select[Any]:
    """Root runs that are over; a run without a status was never started."""
    joined = runs.outerjoin(status, status.c.workflow_uuid == runs.c.run)
    return (
        sa.select(runs.c.run, runs.c.created)
        .select_from(joined)
        .where(
            runs.c.parent.is_(None), sa.or_(status.c.status.in_(FINAL_STATUSES), status.c.status.is_(None))
        )
        .order_by(runs.c.created)
    )


def _sizes(connection: sa.Connection) -> list[_Size]:
    recorded: dict[str, int] = {}
    for table, column in ((steps, steps.c.output), (inputs, inputs.c.inputs), (output, output.c.output)):
        size = sa.func.coalesce(sa.func.sum(sa.func.length(column)), 0)
        for row in connection.execute(sa.select(table.c.workflow_uuid, size).group_by(table.c.workflow_uuid)):
            root = row[0].partition("/")[0]
            recorded[root] = recorded.get(root, 0) + row[1]
    return [_Size(row.run, row.created, recorded.get(row.run, 0)) for row in connection.execute(_over())]


def _remove(connection: sa.Connection, part: list[str]) -> list[str]:
    removed: list[str] = []
    for run in list(connection.execute(_over().where(runs.c.run.in_(part))).scalars()):
        removed += connection.execute(
            sa.select(runs.c.run).where(of_family(connection, runs.c.run, run)).order_by(runs.c.run)
        ).scalars()
        for table, column in (
            (inputs, inputs.c.workflow_uuid),
            (output, output.c.workflow_uuid),
            (steps, steps.c.workflow_uuid),
            (status, status.c.workflow_uuid),
            (runs, runs.c.run),
            (begun, begun.c.run),
            (waits, waits.c.run),
            (events, events.c.run),
        ):
            connection.execute(sa.delete(table).where(of_family(connection, column, run)))
    return removed


class Engine:
    """Use `open_engine` to get one.

    Every request raises `DatabaseUnavailable` after `PATIENCE` seconds; only `wait` waits for the database.
    """

    def __init__(self, runtime: Runtime, queues: Queues, *, worker: str = "") -> None:
        self.worker = worker
        """The name of this worker."""
        self._runtime = runtime
        self._queues = queues
        self._reader = RunReader(runtime)

    @property
    def database(self) -> RunDatabase:
        return self._runtime.database

    @answered_in_time
    async def start(
        self,
        workflow: Workflow,
        inputs: Mapping[str, Any] | None = None,
        *,
        run_id: str | None = None,
        queued: bool = False,
        breakpoints: Iterable[str] = (),
        from_run: str | None = None,
        from_step: str | None = None,
        results_of: Collection[str] = (),
        others: SecretInputs = NOTHING,
    ) -> str:
        """Start a run; its id. With the id of an existing run nothing happens.

        `from_run` and `from_step` take over the recorded steps of a run before that step. `results_of` names
        tools, or other sources, of untrusted data in the inputs. Raises
        `InvalidWorkflow`, `UsageError` for wrong inputs, `DatabaseUnavailable`. `others` are the secrets of
        `from_run`.
        """
        complete = complete_inputs(workflow, inputs or {})
        run = run_id or f"{workflow.name}-{uuid.uuid4().hex[:12]}"
        _check_id(run)
        recorded, known = await self._taken_over(from_run, from_step)
        now = self._runtime.clock.now()
        document = root_document(
            workflow,
            complete,
            run=run,
            started=now.isoformat(),
            recorded=tuple(recorded),
            results_of={*results_of, *known},
        )
        document = await self._runtime.documents.seal(document, others)
        self._runtime.documents.graph(document["workflow"], compile_workflow)
        await insert_run(
            self._runtime.database,
            run,
            workflow.name,
            now.timestamp(),
            from_run=from_run,
            breakpoints=breakpoints,
        )
        queue, partition = None, None
        if queued or workflow.options.concurrency is not None:
            queue, partition = await outside_of_runs(lambda: self._queues.of(workflow))
        await outside_of_runs(lambda: interpreter.start(run, document, queue, partition))
        self._runtime.on_change(run, None)
        return run

    @answered_in_time
    async def rerun(
        self,
        run: str,
        *,
        from_step: str | None = None,
        inputs: Mapping[str, Any] | None = None,
        workflow: Workflow | None = None,
        breakpoints: Iterable[str] = (),
    ) -> str:
        """A new run like this one, from the beginning or a step, with other inputs or a newer workflow."""
        document = await self._runtime.documents.read(run)
        secrets = await self._runtime.documents.secrets(document)
        chosen = workflow or Workflow.model_validate(document["workflow"])
        given = {**secrets.reveal(document["inputs"]), **(inputs or {})}
        known = {name: value for name, value in given.items() if name in chosen.inputs}
        return await self.start(
            chosen,
            known,
            breakpoints=breakpoints,
            from_run=run,
            from_step=from_step,
            results_of=document.get("results_of", ()),
            others=secrets,
        )

    @answered_in_time
    async def cancel(self, run: str) -> bool:
        """End a run and everything it started; False if it was already over."""
        if (await self.status(run)).state in FINAL:
            return False
        await self._cancel(await self.database.run(lambda connection: _family(connection, run)))
        self._runtime.on_change(run, None)
        return True

    async def _cancel(self, names: list[str]) -> None:
        await outside_of_runs(lambda: DBOS.cancel_workflows_async(names))
        for name in names:
            if name in self._runtime.active:
                stop_if_lost(self._runtime.active[name], "CANCELLED", None)

    @answered_in_time
    async def pause(self, run: str) -> None:
        """Begin no more steps; those under way end."""
        await self._control(run, await self._runtime.controls.pause(run))

    @answered_in_time
    async def resume(self, run: str) -> None:
        """Go on after a pause or a breakpoint."""
        await self._control(run, await self._runtime.controls.resume(run))

    @answered_in_time
    async def step(self, run: str) -> None:
        """Run the next step and pause again."""
        await self._control(run, await self._runtime.controls.step(run))

    @answered_in_time
    async def answer(self, run: str, step: str, answer: UserAnswer) -> None:
        """Answer an open question; raises `NotFound` and `UsageError`."""
        asked = {question.step: (question, key) for question, key in await self._reader.questions(run)}
        if step not in asked:
            raise NotFound(f"{run} has no open question at {step!r}.", hint=_open_steps(asked))
        question, key = asked[step]
        if answer.choice not in question.choices:
            choices = ", ".join(question.choices)
            raise UsageError(f"{answer.choice!r} is not a choice.", hint=f"Choose one of: {choices}.")
        given = {"choice": answer.choice, "values": dict(answer.values), "comment": answer.comment}
        if not await self._runtime.waits.give(key, given):
            if question.deadline is not None and question.deadline < self._runtime.clock.now():
                raise UsageError(
                    f"The question had to be answered until {question.deadline:%Y-%m-%d %H:%M:%S %Z}.",
                    hint=f"Run it again from there: toolcrib workflow rerun {run} --from {step}",
                )
            raise NotFound("The question was answered in the meantime.")
        self._runtime.on_change(run, step)

    @answered_in_time
    async def questions(self, run: str) -> Sequence[RunQuestion]:
        return [question for question, _ in await self._reader.questions(run)]

    @answered_in_time
    async def send_event(self, run: str, name: str, data: Any = None, *, source: str = "") -> None:
        """Give an event to a run; it is kept until a node takes it. `source` is for untrusted data."""
        text = json.dumps(data)
        if len(text) > LARGEST_EVENT:
            raise UsageError(f"The event has more than {LARGEST_EVENT} characters.")
        if (await self.status(run)).state in FINAL:
            raise UsageError(f"{run} is over.", hint="Send events to runs that wait for them.")
        await self._runtime.waits.send(run, name, text, source)
        await self._runtime.waits.look()

    @answered_in_time
    async def status(self, run: str, *, asked: Collection[str] = ()) -> RunRecord:
        """Raises `NotFound`. `asked` are the runs with calls that wait for an approval."""
        return await self._reader.run(run, asked)

    @answered_in_time
    async def runs(
        self,
        workflow: str | None = None,
        state: RunState | None = None,
        *,
        limit: int | None = 50,
        before: str | None = None,
        prefix: str = "",
        asked: Collection[str] = (),
    ) -> list[RunRecord]:
        """The latest runs first; see `RunSelection`."""
        chosen = RunSelection(
            workflow=workflow, state=state, limit=limit, before=before, prefix=prefix, asked=asked
        )
        return await self._reader.runs(chosen)

    @answered_in_time
    async def latest(
        self, workflows: Sequence[str], each: int, *, asked: Collection[str] = ()
    ) -> list[RunRecord]:
        """The latest runs of each of these workflows."""
        return await self._reader.latest(workflows, each, asked)

    @answered_in_time
    async def with_input(self, workflow: str, name: str, value: Any) -> list[str]:
        """The active runs of a workflow whose input has this value."""
        query = possible_runs(workflow, name, value)
        found = await self.database.run(lambda connection: list(connection.execute(query).scalars()))
        return [run for run in found if (await self.inputs(run))[1].get(name) == value]

    async def steps(self, run: str, *, asked: Collection[str] = ()) -> list[StepRecord]:
        """All visits in their order, with their traces; the one under way is last."""
        return list((await self.path(run, asked=asked)).steps)

    @answered_in_time
    async def path(self, run: str, *, asked: Collection[str] = ()) -> RunPath:
        """All visits, as `steps` has them, and the decisions between them."""
        return await self._reader.path(run, asked)

    async def trace(self, run: str, step: str, *, asked: Collection[str] = ()) -> StepRecord:
        """One visit; raises `NotFound`."""
        for record in await self.steps(run, asked=asked):
            if record.step == step:
                return record
        raise NotFound(f"{run} has no step {step!r}.")

    @answered_in_time
    async def inputs(self, run: str) -> tuple[Workflow, Mapping[str, Any]]:
        """The workflow and the inputs that a run was started with; marks for secrets of another host."""
        document = await self._runtime.documents.read(run)
        secrets = (await self._runtime.documents.plan_to_show(run)).secrets
        return Workflow.model_validate(document["workflow"]), secrets.reveal(document["inputs"])

    @answered_in_time
    async def secrets(self, run: str) -> SecretInputs:
        """The secret inputs of a run, and of the run that it belongs to; empty on another host."""
        return (await self._runtime.documents.plan_to_show(run)).secrets

    async def wait(self, run: str, timeout: float | None = None) -> RunRecord:
        """Wait until the run is over; after `timeout` seconds its current state."""
        record, pause = await self.status(run), FIRST_LOOK
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                while record.state not in FINAL:
                    await asyncio.sleep(pause)
                    pause = min(pause * 1.5, LAST_LOOK)
                    record = await self._reader.run(run)
        return record

    async def prune(
        self, *, older_than: float | None = None, largest: int | None = None, now: float | None = None
    ) -> list[str]:
        """Remove runs that are over and were created before this time (seconds since 1970), then the oldest
        until the rest fits. Their sub-workflows and items go with them.

        None is removed for its age if the clock may have jumped to `now`. The ids of the removed runs and of
        their sub-workflows, for their artifacts.
        """
        sizes = await self.database.run(_sizes)
        if now is not None and may_have_jumped([size.created for size in sizes], now):
            older_than = None
        chosen = [size.run for size in sizes if older_than is not None and size.created < older_than]
        left = [size for size in sizes if size.run not in set(chosen)]
        total = sum(size.bytes for size in left)
        for size in left:
            if largest is None or total <= largest:
                break
            chosen.append(size.run)
            total -= size.bytes
        return await self._remove(chosen)

    async def _remove(self, chosen: list[str]) -> list[str]:
        removed: list[str] = []
        for start in range(0, len(chosen), AT_ONCE):
            part = chosen[start : start + AT_ONCE]
            removed += await self.database.run(partial(_remove, part=part))
        if removed and self.database.is_sqlite:
            await self.database.run(
                lambda connection: connection.exec_driver_sql("PRAGMA incremental_vacuum")
            )
        return removed

    async def drain(self, seconds: float) -> None:
        """Begin no more steps and wait for those that are working."""
        self._runtime.closing = True
        until = self._runtime.clock.monotonic() + seconds
        while any(run.busy for run in self._runtime.active.values()):
            if self._runtime.clock.monotonic() >= until:
                return
            await asyncio.sleep(FIRST_LOOK)

    async def _taken_over(
        self, run: str | None, step: str | None
    ) -> tuple[Sequence[Mapping[str, Any]], Collection[str]]:
        """The steps of a run before this one, and the tools whose results they may have."""
        if not run or not step:
            return (), ()
        recorded = await self._reader.before(run, step)
        called = await self._runtime.services.tools_once_called(run)
        return recorded, {*called, *await self._runtime.waits.sources(run)}

    async def _control(self, run: str, found: bool) -> None:
        if not found:
            raise NotFound(f"There is no run {run!r}.")
        self._runtime.on_change(run, None)


def _family(connection: sa.Connection, run: str) -> list[str]:
    """The run and everything it started that is not over."""
    name = status.c.workflow_uuid
    active = status.c.status.not_in(FINAL_STATUSES)
    query = sa.select(name).where(of_family(connection, name, run), active)
    return list(connection.execute(query).scalars())


def _check_id(run: str) -> None:
    if not run or len(run) > 200 or not all(character.isalnum() or character in "-_.:" for character in run):
        raise UsageError(
            f"{run[:50]!r} cannot be the id of a run.", hint="Use letters, digits, and . _ : - (at most 200)."
        )


def _open_steps(asked: Mapping[str, Any]) -> str:
    return f"Open questions: {', '.join(asked)}." if asked else "It has no open questions."
