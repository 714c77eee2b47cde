"""The runs of a host's workflows: started, followed, stopped and inspected through the engine; how often a
followed run is looked at, and errors for unknown or ambiguous ids.
"""

from __future__ import annotations

import asyncio
import builtins
import json
import secrets
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from toolcrib.errors import NotFound, UsageError
from toolcrib.features.workflows.approvals import withdraw_questions
from toolcrib.features.workflows.artifacts import RunArtifacts
from toolcrib.features.workflows.host_engine import HostEngine, OnProgress
from toolcrib.features.workflows.inputs import read_inputs
from toolcrib.features.workflows.records import (
    FINAL,
    RunPath,
    RunQuestion,
    RunRecord,
    RunStart,
    StepRecord,
    with_parents,
)
from toolcrib.features.workflows.secret_inputs import HIDDEN, SecretInputs
from toolcrib.graph.node_type import UserAnswer
from toolcrib.host import Host
from toolcrib.schema.events import RunChanged
from toolcrib.schema.workflows import RunState, Workflow

if TYPE_CHECKING:
    from toolcrib.events import Subscription
    from toolcrib.features.workflows.engine.engine import Engine

LOOK = 1.0
"""Seconds between looks at a run that another process may run."""
SETTLE = 0.05
"""Seconds in which changes of a run are combined."""


class CheckedWorkflows(Protocol):
    """What runs use of `Workflows`, which creates them."""

    async def find(self, name: str) -> Workflow: ...

    def check(self, workflow: Workflow) -> None: ...

    async def admit(self, workflow: Workflow) -> tuple[str, ...]: ...

    async def is_confirmed(self, workflow: Workflow) -> bool | None: ...


class WorkflowRuns:
    """Created by `Workflows`."""

    def __init__(self, host: Host, workflows: CheckedWorkflows) -> None:
        self._host = host
        self._workflows = workflows
        self.artifacts = RunArtifacts(host.paths.runs / "artifacts")
        self.engine = HostEngine(host, self, self.artifacts)
        self._ending: set[asyncio.Task[None]] = set()

    async def open(
        self, on_progress: OnProgress = lambda text: None, *, take_over: bool | None = None
    ) -> Engine:
        """Become a worker: run what is started here and, with `take_over`, what was left unfinished."""
        return await self.engine.open(on_progress, take_over=take_over)

    async def close(self) -> None:
        await self.engine.close()

    async def start(
        self,
        workflow: Workflow,
        inputs: Mapping[str, Any],
        *,
        breakpoints: Iterable[str] = (),
        replay: str | None = None,
        results_of: Collection[str] = (),
    ) -> str:
        """Start a run; returns its id. Raises `UsageError` if the workflow or its inputs are not valid.

        `results_of` names the tools whose results may be in the inputs.
        """
        self._workflows.check(workflow)
        origin = await self._workflows.admit(workflow)
        engine = await self.open()
        run = f"{workflow.name}-{secrets.token_hex(6)}"
        if replay is not None:
            earlier = (await self.get(replay)).run
            decisions = {RunArtifacts.SOURCE: earlier, **await self._decisions(earlier)}
            await asyncio.to_thread(self.artifacts.replay, run, decisions)
        return await engine.start(
            workflow, inputs, run_id=run, breakpoints=breakpoints, results_of=(*results_of, *origin)
        )

    def results_in(self, session: str | None) -> Collection[str]:
        """The tools whose results a session has that calls a workflow."""
        return self._host.approvals.policy.results_in(session)

    async def rerun(
        self,
        run: str,
        *,
        from_node: str | None = None,
        inputs: Mapping[str, Any] | None = None,
        texts: Mapping[str, str] | None = None,
    ) -> str:
        """Start a new run from an earlier one; returns its id."""
        engine = await self.open()
        earlier = await self.get(run)
        workflow, before = await engine.inputs(earlier.run)
        given = read_inputs(workflow, {**before, **(inputs or {})}, texts or {})
        step = None if from_node is None else await self._first_visit(earlier.run, from_node)
        return await engine.rerun(earlier.run, from_step=step, inputs=given)

    async def get(self, run: str) -> RunRecord:
        """A run by its id, the beginning of it, or `last`; raises `NotFound`."""
        if not self.engine.exists:
            raise _unknown(run)
        engine = await self.engine.view()
        asked = await self._asked()
        try:
            return await engine.status(run, asked=asked)
        except NotFound:
            return await self._look_up(engine, run, asked)

    async def list(
        self, *, name: str | None = None, state: RunState | None = None, limit: int, before: str | None = None
    ) -> builtins.list[RunRecord]:
        """Runs, the latest first; `before` is the id of a run."""
        if not self.engine.exists:
            return []
        engine = await self.engine.view()
        last = None if before is None else (await self.get(before)).run
        return await engine.runs(name, state, limit=limit, before=last, asked=await self._asked())

    async def latest(self, workflows: Sequence[str], each: int, waiting: int) -> builtins.list[RunRecord]:
        """The latest runs of each of these workflows, and so many that wait; the latest first."""
        if not self.engine.exists:
            return []
        engine, asked = await self.engine.view(), await self._asked()
        found = await engine.latest(workflows, each, asked=asked)
        found += await engine.runs(state="waiting", limit=waiting, asked=asked)
        return sorted({run.run: run for run in found}.values(), key=lambda run: run.created, reverse=True)

    async def steps(self, run: str) -> Sequence[StepRecord]:
        """The steps of a run, in the order in which they began."""
        return await (await self.engine.view()).steps(run, asked=await self._asked())

    async def path(self, run: str) -> RunPath:
        """The steps of a run, and the decisions between them."""
        return await (await self.engine.view()).path(run, asked=await self._asked())

    async def step(self, run: str, step: str) -> StepRecord:
        """One step; raises `NotFound`."""
        return await (await self.engine.view()).trace(run, step, asked=await self._asked())

    async def started_with(self, run: str) -> RunStart:
        """The workflow and the inputs of a run."""
        workflow, inputs = await (await self.engine.view()).inputs(run)
        plain = (await self.secrets(run)).shown(inputs)
        shown = {name: HIDDEN if _is_secret(workflow, name) else value for name, value in plain.items()}
        return RunStart(workflow=workflow, inputs=shown)

    async def questions(self) -> builtins.list[tuple[RunRecord, RunQuestion]]:
        """What all runs ask the user, oldest first."""
        if not self.engine.exists:
            return []
        engine = await self.engine.view()
        waiting = await engine.runs(state="waiting", limit=None)
        asked = [(run, question) for run in waiting for question in run.questions]
        return sorted(asked, key=lambda pair: pair[1].asked)

    async def artifact(self, run: str, artifact: str) -> tuple[str, bytes]:
        """The media type and the content of a stored file; raises `NotFound`. Secret inputs are masked."""
        media_type, data = await asyncio.to_thread(self.artifacts.read, run, artifact)
        if media_type.startswith("image/"):
            return media_type, data
        secrets = await self.secrets(run)
        return media_type, str(secrets.shown(data.decode("utf-8", "replace"))).encode()

    async def find(self, name: str) -> Workflow:
        """A stored workflow, for a run that has it as a part; raises `NotConfirmed`."""
        found = await self._workflows.find(name)
        await self._workflows.admit(found)
        return found

    async def is_imported(self, workflow: Workflow) -> bool:
        """Whether it was made elsewhere."""
        return await self._workflows.is_confirmed(workflow) is not None

    async def secrets(self, run: str) -> SecretInputs:
        """The secret inputs of a run, and of the run that it belongs to."""
        return await (await self.engine.view()).secrets(run)

    async def cancel(self, run: str) -> RunRecord:
        """Cancel a run and stop its current step; raises `UsageError` if it has ended."""
        found = await self._active(run)
        await (await self.engine.view()).cancel(found.run)
        await withdraw_questions(self._host, found.run)
        return await self.get(found.run)

    async def pause(self, run: str) -> RunRecord:
        """Pause a run before its next step."""
        found = await self._active(run)
        await (await self.engine.view()).pause(found.run)
        return await self.get(found.run)

    async def resume(self, run: str) -> RunRecord:
        """Continue a paused run; one that was interrupted continues when the engine opens."""
        found = await self._active(run)
        await (await self.open(take_over=True)).resume(found.run)
        return await self.get(found.run)

    async def step_once(self, run: str) -> RunRecord:
        """Let a paused run take one step."""
        found = await self._active(run)
        await (await self.engine.view()).step(found.run)
        return await self.get(found.run)

    async def answer(
        self, run: str, step: str, *, choice: str, values: Mapping[str, Any], comment: str = ""
    ) -> RunRecord:
        """Answer the question of a step."""
        found = await self.get(run)
        answer = UserAnswer(choice=choice, values=values, comment=comment)
        await (await self.engine.view()).answer(found.run, step, answer)
        return await self.get(found.run)

    async def send_event(self, run: str, name: str, data: Any, *, source: str = "") -> RunRecord:
        """Send an event to a run; `source` names where untrusted data is from."""
        found = await self._active(run)
        await (await self.engine.view()).send_event(found.run, name, data, source=source)
        return found

    async def changes(self, run: str) -> AsyncIterator[tuple[RunRecord, StepRecord | None]]:
        """The run now and after each change, with the step that changed, until it ends."""
        id_, shown = (await self.get(run)).run, dict[str, object]()
        with self._host.events.subscribe() as events:
            while True:
                record = await self.get(id_)
                for step in await self.steps(id_):
                    if shown.get(step.step) != (now := (step.state, step.attempts)):
                        shown[step.step] = now
                        yield record, step
                yield record, None
                if record.state in FINAL:
                    return
                await _next_change(events, id_)

    def changed(self, run: str, step: str | None) -> None:
        """Called by the engine whenever something about a run changed."""
        self._host.events.publish(RunChanged(run=run, step=step))

    async def _decisions(self, run: str) -> dict[str, Any]:
        """What models decided in a run, by step."""
        found: dict[str, Any] = {}
        for step in await self.steps(run):
            for note in step.trace.get("notes", ()):
                if note.get("kind") == "model_decision":
                    _, data = await asyncio.to_thread(self.artifacts.read, run, note["artifact"])
                    found[step.step] = json.loads(data)
        return found

    async def _active(self, run: str) -> RunRecord:
        found = await self.get(run)
        if found.state in FINAL:
            hint = f"Run it again with: toolcrib workflow rerun {found.run}"
            raise UsageError(f"The run {found.run} has ended ({found.state}).", hint=hint)
        return found

    async def _look_up(self, engine: Engine, run: str, asked: Collection[str]) -> RunRecord:
        last = run == "last"
        matching = await engine.runs(limit=1 if last else 2, prefix="" if last else run, asked=asked)
        if len(matching) == 1:
            return matching[0]
        if not matching:
            raise _unknown(run)
        known = " and ".join(record.run for record in matching)
        raise UsageError(f"Several runs begin with {run[:80]!r}.", hint=f"Give more of the id: {known}.")

    async def _first_visit(self, run: str, node: str) -> str:
        for step in await self.steps(run):
            if node in (step.node, step.step):
                return step.step
        raise UsageError(
            f"The run {run} never came to the node {node!r}.", hint=f"See: toolcrib workflow show {run}"
        )

    async def _asked(self) -> set[str]:
        """Runs with a call that waits for an approval, and those that they are part of."""
        requests = await self._host.approvals.questions.requests.waiting()
        sessions = [request.question.get("session") for request in requests]
        return {run for session in sessions if session for run in with_parents(session)}


async def _next_change(events: Subscription[Any], run: str) -> None:
    """Wait for an event about this run; another process may change it without one."""
    try:
        async with asyncio.timeout(LOOK):
            while True:
                event = await events.next()
                if isinstance(event, RunChanged) and event.run == run:
                    break
        await asyncio.sleep(SETTLE)
    except TimeoutError:
        pass


def _is_secret(workflow: Workflow, name: str) -> bool:
    return name in workflow.inputs and workflow.inputs[name].secret


def _unknown(run: str) -> NotFound:
    return NotFound(f"There is no run {run[:80]!r}.", hint="List them with: toolcrib workflow runs")
