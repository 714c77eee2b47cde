"""The one workflow that DBOS knows: it walks a compiled graph and makes each visit of a node a step.

Runs inside a run: the items of a map, and sub-workflows. They are workflows of DBOS of their own, with ids
that follow from the visit. A visit that runs again after a restart finds them by their ids and waits for the
rest.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import timeout
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from typing import Any

from dbos import DBOS, SetEnqueueOptions, SetWorkflowID
from pydantic import BaseModel

from toolcrib.clock import Clock
from toolcrib.errors import CallFailed, Denied, NotFound, ToolcribError, UsageError
from toolcrib.features.workflows.engine.active_run import ActiveRun, ParentVisit
from toolcrib.features.workflows.engine.database import RunDatabase
from toolcrib.features.workflows.engine.dbos_internals import (
    DBOSAwaitedWorkflowCancelledError,
    DBOSWorkflowConflictIDError,
    owner_token,
)
from toolcrib.features.workflows.engine.documents import (
    Document,
    Documents,
    RunPlan,
    complete_inputs,
    info_of,
    insert_run,
    item_document,
    map_item,
    root_document,
)
from toolcrib.features.workflows.engine.guard import CallGuard
from toolcrib.features.workflows.engine.outcomes import FinalOutcome, final_outcome, result_of
from toolcrib.features.workflows.engine.runtime import Runtime, outside_of_runs, stop_lost
from toolcrib.features.workflows.engine.serializer import CALLED, JsonSerializer, RunFailed
from toolcrib.features.workflows.engine.visit_context import AGAIN, DONE, VisitContext, ask_again
from toolcrib.features.workflows.engine.waits import Waits
from toolcrib.features.workflows.graph.validation import compile_workflow
from toolcrib.features.workflows.ports import RunServices
from toolcrib.features.workflows.records import path_in, with_parents
from toolcrib.features.workflows.secret_inputs import without_marks
from toolcrib.graph.node_type import UserAnswer
from toolcrib.graph.trace import MOST_NOTES, Outcome, Trace, checked_value, error_of, shown
from toolcrib.graph.walk import MapItem, Visit, Walk, WalkEnd
from toolcrib.schema.workflows import NEXT, Check, Retry, StepState
from toolcrib.tasks import being_cancelled

DEEPEST = 10
"""Levels of sub-workflows."""

ONCE = Retry(attempts=1)

logger = logging.getLogger(__name__)

NAME = "toolcrib_run"
MOST_RESTARTS = 1000
"""A run that was interrupted more often fails: it may be what stops the process."""

CHECKS = "(checks)"

_current: Runtime | None = None
"""DBOS is one for a process, and so is what its workflow runs on."""


class ItemFailed(CallFailed):
    """An item of a map failed."""

    kind = "item_failed"


class SubWorkflowFailed(CallFailed):
    """A sub-workflow failed or was cancelled."""

    kind = "sub_workflow_failed"


class Children:
    """The runs that belong to visits of one run."""

    def __init__(self, execution: ActiveRun) -> None:
        self._execution = execution
        self._active: set[str] = set()

    async def run_map(self, context: ParentVisit, visit: Visit) -> dict[str, Any]:
        """The results of all items, at most `at_once` at a time."""
        settings: Any = visit.settings
        results: list[Any] = [None] * len(settings.items)
        errors: dict[int, str] = {}
        items = iter(enumerate(settings.items))
        values = self._execution.walk.values_for(visit.node)

        async def work(remaining: Iterator[tuple[int, Any]]) -> None:
            for index, item in remaining:
                try:
                    results[index] = await self._item(context, visit, index, item, values)
                except RunFailed as error:
                    if settings.on_error == "stop":
                        raise ItemFailed(
                            f"Item {index}: {error}", hint='Or set on_error to "continue".'
                        ) from None
                    errors[index] = str(error)

        with context.waiting():
            await self._all(work(items) for _ in range(min(settings.at_once, len(results))))
        failed = [{"index": index, "message": errors[index]} for index in sorted(errors)]
        return checked_value(  # type: ignore[no-any-return]
            {"results": results, "count": len(results), "failed": len(failed), "errors": failed}
        )

    async def run_workflow(
        self, context: ParentVisit, name: str, inputs: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """The outputs of a sub-workflow."""
        child = _attempt_id(f"{self._execution.run}/{context.step.rpartition('/')[2]}", context.attempt)
        context.note("sub_workflow", workflow=name, run=child)
        try:
            if (outcome := await final_outcome(self._execution.database, child)) is None:
                document = await self._sub_document(child, name, inputs)
                result = await self._run(child, document)
            else:
                result = self._result(child, outcome)
        except RunFailed as error:
            await self._add_results(error.error)
            raise SubWorkflowFailed(
                f"{name}: {without_marks(str(error))}", hint=f"See the run {child}."
            ) from None
        await self._add_results(result)
        secrets = (await self._execution.documents.plan(child)).secrets
        return dict(secrets.reveal(result["outputs"]))

    async def _add_results(self, outcome: Mapping[str, Any]) -> None:
        await self._execution.services.add_results(self._execution.info, outcome.get(CALLED, ()))

    async def _sub_document(self, child: str, name: str, inputs: Mapping[str, Any]) -> Document:
        execution = self._execution
        if execution.plan.depth >= DEEPEST:
            raise UsageError(f"Sub-workflows are nested more than {DEEPEST} levels deep.")
        workflow = await execution.services.find_workflow(name, execution.info)
        compile_workflow(workflow)
        now = execution.clock.now()
        await insert_run(execution.database, child, name, now.timestamp(), parent=execution.root)
        document = root_document(
            workflow,
            complete_inputs(workflow, inputs),
            run=child,
            started=now.isoformat(),
            parent=execution.root,
            depth=execution.plan.depth + 1,
            results_of=execution.services.tools_called(execution.info),
        )
        return await execution.documents.seal(document, execution.plan.secrets)

    async def _item(
        self, context: ParentVisit, visit: Visit, index: int, item: Any, values: Mapping[str, Any]
    ) -> Any:
        """One item. A second attempt of the map repeats only the items that failed."""
        name = f"{visit.step}[{index}]"
        for attempt in range(1, context.attempt):
            earlier_id = _attempt_id(f"{self._execution.run}/{name}", attempt)
            earlier = await final_outcome(self._execution.database, earlier_id)
            if earlier is not None and earlier.status == "SUCCESS":
                return self._execution.plan.secrets.reveal(self._result(earlier_id, earlier)["outputs"])
        part = MapItem(map=visit.node, item=item, index=index, values=values)
        path = f"{self._execution.path}{_attempt_id(name, context.attempt)}/"
        secrets = self._execution.plan.secrets
        document = item_document(self._execution.root, path, part, secrets)
        child = _attempt_id(f"{self._execution.run}/{name}", context.attempt)
        return secrets.reveal((await self._run(child, document))["outputs"])

    def _result(self, child: str, outcome: FinalOutcome) -> Any:
        serializer = self._execution.serializer
        result = result_of(outcome, serializer)
        serializer.check_run(result, child)
        return result

    async def _run(self, child: str, document: Document) -> Any:
        """Start a child, or find it, and wait for its result; raises `RunFailed`."""
        self._active.add(child)
        try:
            result = await outside_of_runs(lambda: start_and_wait(child, document))
            self._execution.serializer.check_run(result, child)
            return result
        except DBOSAwaitedWorkflowCancelledError:
            raise RunFailed({"kind": "cancelled", "message": "It was cancelled."}) from None
        except asyncio.CancelledError:
            if self._execution.given_up:
                await outside_of_runs(lambda: DBOS.cancel_workflow_async(child, cancel_children=True))
            raise
        finally:
            self._active.discard(child)

    async def _all(self, works: Iterator[Any]) -> None:
        """Run all, and stop all when one fails, with its error."""
        tasks = [asyncio.create_task(work) for work in works]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def start_and_wait(run: str, document: Document) -> Any:

    handle = await start(run, document)
    return await handle.get_result()


def _attempt_id(name: str, attempt: int) -> str:
    return name if attempt == 1 else f"{name}~{attempt}"


class CheckFailed(CallFailed):
    """What should hold does not."""

    kind = "check_failed"


async def check_all(checks: Sequence[Check], context: VisitContext, values: Mapping[str, Any]) -> None:
    from toolcrib.features.workflows.checks import run_check

    """Note every outcome; raises `CheckFailed` for the first that fails."""
    outcomes = [await run_check(check, context, values) for check in checks]
    for outcome in outcomes:
        context.note("check", **asdict(outcome))
    if failed := [outcome.reason for outcome in outcomes if outcome.fails]:
        raise CheckFailed(f"A check failed: {failed[0]}.", hint="Look at the trace of the node.")


class StepTimeout(CallFailed):
    """One attempt took too long."""

    kind = "timeout"


class Attempts:
    """Runs one visit to its end."""

    def __init__(self, execution: ActiveRun, visit: Visit) -> None:
        self._execution = execution
        self._visit = visit
        self._compiled = execution.plan.graph.nodes[visit.node]
        self._node = self._compiled.node
        self._retry = self._node.retry or ONCE
        self._context = VisitContext(execution, visit.step, visit.node)
        self._context.notes += [dict(note) for note in visit.notes[-MOST_NOTES:]]
        self._attempts: list[dict[str, Any]] = []
        self._started = execution.clock.now()

    async def run(self) -> Trace:
        """The whole visit; a failure is part of the trace."""
        left = self._execution.time_left()
        try:
            async with timeout(left) as run_time:
                return await self._run()
        except TimeoutError:
            if not run_time.expired():
                raise
            limit = self._execution.info.workflow.options.timeout
            message = f"The run took longer than {limit:g} seconds."
            return self._failed({"kind": "run_timeout", "message": message, "hint": "", "fatal": True})

    async def _run(self) -> Trace:
        if self._visit.problem is not None:
            return self._failed(dict(self._visit.problem))
        if tools := self._execution.guard.unfinished(self._visit.step):
            decided = await self._confirm(tools, "Its worker stopped while it was running.")
            if decided is not None:
                return decided
        return await self._attempt_all()

    async def _attempt_all(self) -> Trace:
        for number in range(1, self._retry.attempts + 1):
            begun = self._execution.clock.now()
            try:
                value = await self._attempt(number)
            except Exception as error:  # noqa: BLE001 - a node may fail in any way
                self._note_attempt(begun, error)
                if number == self._retry.attempts or isinstance(error, UsageError | Denied | NotFound):
                    return self._failed(error_of(error))
                if self._context.unclear:
                    decided = await self._confirm([self._context.unclear], error_of(error)["message"])
                    if decided is not None:
                        return decided
                await self._pause(number)
            else:
                self._note_attempt(begun, None)
                await self._settle()
                return self._trace("done", value=value)
        raise AssertionError("The last attempt returns.")

    async def _attempt(self, number: int) -> Any:
        seconds = self._node.timeout if self._is_map else self._node.timeout or self._compiled.type.timeout
        time = self._context.begin_attempt(number, seconds)
        try:
            async with time:
                value = await self._run_node()
                await self._check(value)
                return value
        except TimeoutError:
            if not time.expired:
                raise
            raise StepTimeout(
                f"It took longer than {seconds:g} seconds.", hint="Raise the timeout of the node."
            ) from None

    @property
    def _is_map(self) -> bool:
        return self._compiled.type.flow == "map"

    async def _run_node(self) -> Any:
        settings = self._visit.settings
        if self._is_map:
            return await self._execution.children.run_map(self._context, self._visit)
        run = self._compiled.type.run
        if run is None:
            raise UsageError(f"A {self._node.type} cannot run.")
        result = await run(settings, self._context)
        return checked_value(result.model_dump(mode="json") if isinstance(result, BaseModel) else result)

    async def _check(self, value: Any) -> None:
        if not self._node.checks:
            return
        values = {**self._execution.walk.values, self._visit.node: value}
        await check_all(self._node.checks, self._context, values)

    async def _confirm(self, tools: list[str], reason: str) -> Trace | None:
        """Ask whether calls with an unknown outcome should run again; None if they should."""
        with self._execution.state(self._visit.step, "uncertain"):
            answer = await ask_again(self._execution, self._visit, tools, reason)
        choice = answer.choice if answer else None
        self._context.note("uncertain", tools=tools, reason=reason, choice=choice)
        if choice == AGAIN:
            await self._execution.guard.clear(self._visit.step)
            return None
        if answer is not None and choice == DONE:
            return self._trace("done", value=_known(answer))
        message = f"{', '.join(tools)} may or may not have run: {reason}"
        return self._failed({"kind": "uncertain", "message": message, "hint": "", "fatal": True}, "uncertain")

    async def _pause(self, number: int) -> None:
        """Before the next attempt. What was begun has a known outcome now."""
        await self._execution.guard.clear(self._visit.step)
        pause = min(self._retry.delay * self._retry.factor ** (number - 1), self._retry.longest)
        with self._execution.state(self._visit.step, "retrying"):
            await self._execution.clock.sleep(pause)

    async def _settle(self) -> None:
        if self._node.settle:
            await self._execution.clock.sleep(self._node.settle)

    def _note_attempt(self, begun: Any, error: Exception | None) -> None:
        if error is not None and error_of(error)["kind"] == "internal":
            logger.error(
                "a node failed", exc_info=error, extra={"run": self._execution.run, "step": self._visit.step}
            )
        self._attempts.append(
            {
                "started": begun.isoformat(),
                "ended": self._execution.clock.now().isoformat(),
                "error": None if error is None else error_of(error),
            }
        )

    def _failed(self, error: dict[str, Any], state: StepState = "failed") -> Trace:
        return self._trace(state, error=error)

    def _trace(self, state: StepState, value: Any = None, error: dict[str, Any] | None = None) -> Trace:
        level = self._node.trace
        settings = self._visit.settings
        inputs = settings.model_dump(mode="json") if settings is not None and level == "full" else None
        return {
            "step": self._visit.step,
            "node": self._visit.node,
            "type": self._node.type,
            "state": state,
            "output": "done" if self._is_map else NEXT,
            "value": value,
            "error": error,
            "inputs": shown(inputs, level),
            "attempts": self._attempts,
            "notes": self._context.notes if level != "off" else [],
            "artifacts": self._context.artifacts,
            "started": self._started.isoformat(),
            "ended": self._execution.clock.now().isoformat(),
        }


def _known(answer: UserAnswer) -> Any:
    """The result that the user filled in, if any."""
    return dict(answer.values) or None


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
    ) -> None:
        self.runtime = runtime
        self.run = run
        self.root = root
        self.path = path
        self.owner = owner
        self.plan = plan
        self.walk = walk
        self.info = info_of(root, plan)
        self.guard = CallGuard(runtime.database, runtime.clock, run, owner)
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
    def database(self) -> RunDatabase:
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
