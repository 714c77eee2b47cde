"""One visit of a node: its attempts (retries, timeout), what the node sees of the world, and the runs that it
starts (maps, sub-workflows and their depth). Has the question after an interrupted step.

Runs inside a run: the items of a map, and sub-workflows. They are workflows of DBOS of their own, with ids
that follow from the visit. A visit that runs again after a restart finds them by their ids and waits for the
rest.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict
from datetime import datetime
from typing import Any
from zlib import crc32

from dbos import DBOS
from pydantic import BaseModel

from toolcrib.errors import (
    CallFailed,
    CallTimeout,
    ConnectionLost,
    Denied,
    NotDelivered,
    NotFound,
    ToolcribError,
    UsageError,
)
from toolcrib.features.workflows.checks import run_check
from toolcrib.features.workflows.engine.dbos_internals import DBOSAwaitedWorkflowCancelledError
from toolcrib.features.workflows.engine.documents import (
    Document,
    complete_inputs,
    insert_run,
    item_document,
    root_document,
)
from toolcrib.features.workflows.engine.outcomes import FinalOutcome, final_outcome, result_of
from toolcrib.features.workflows.engine.runtime import Execution, outside_of_runs
from toolcrib.features.workflows.engine.serializer import CALLED, RunFailed
from toolcrib.features.workflows.engine.waits import Wait, WaitKey
from toolcrib.features.workflows.graph.validation import compile_workflow
from toolcrib.features.workflows.ports import RunInfo
from toolcrib.features.workflows.secret_inputs import without_marks
from toolcrib.graph.node_type import ModelAnswer, ModelTask, NodeCall, NodeQuestion, UserAnswer
from toolcrib.graph.trace import MOST_NOTES, Trace, checked_value, error_of, shown
from toolcrib.graph.walk import MapItem, Visit
from toolcrib.schema.tools import ToolResult
from toolcrib.schema.workflows import NEXT, Check, Retry, StepState
from toolcrib.tasks import cancel_and_wait

logger = logging.getLogger(__name__)
DEEPEST = 10
"""Levels of sub-workflows."""
CHECKS = "(checks)"
ONCE = Retry(attempts=1)

AGAIN = "Do it again"
DONE = "It was done"
STOP = "Stop here"
NUMBER = 0
"""The waits of the node itself count from 1."""


async def ask_again(execution: Execution, visit: Visit, tools: list[str], reason: str) -> UserAnswer | None:
    """The user's decision; None if it did not come in time."""
    content = {
        "text": f"{', '.join(dict.fromkeys(tools))} may or may not have run. {reason} What now?",
        "choices": [AGAIN, DONE, STOP],
        "fields": {},
        "shown": {"node": visit.node, "tools": tools},
        "picture": None,
    }
    seconds = execution.info.workflow.options.question_deadline
    key = WaitKey(execution.run, visit.step, NUMBER)
    stored = execution.plan.secrets.hide(content)
    wait = await execution.runtime.waits.open(key, execution.root, "uncertain", stored, seconds)
    try:
        return _read_answer(await execution.runtime.waits.answer_of(wait))
    except TimeoutError:
        return None


def _read_answer(stored: Mapping[str, Any]) -> UserAnswer:
    values, comment = stored.get("values") or {}, stored.get("comment") or ""
    return UserAnswer(choice=stored["choice"], values=values, comment=comment)


class QuestionExpired(CallFailed):
    """The user did not answer in time."""

    kind = "question_expired"


class EventExpired(CallFailed):
    """The event did not come in time."""

    kind = "event_expired"


class VisitContext:
    """One visit of a node, over all its attempts."""

    def __init__(self, execution: Execution, step: str, node: str) -> None:
        self._execution = execution
        self._runtime = execution.runtime
        self._short_step = step
        self._waits = 0
        self.node = node
        self.notes: list[dict[str, Any]] = []
        self.artifacts: list[str] = []
        self.attempt = 1
        self.unclear: str | None = None
        """A tool whose call began in this attempt and whose outcome is unknown."""
        self.time = asyncio.timeout(None)

    @property
    def run(self) -> str:
        return self._execution.root

    @property
    def info(self) -> RunInfo:
        return self._execution.info

    @property
    def step(self) -> str:
        return self._execution.path + self._short_step

    def begin_attempt(self, number: int, seconds: float | None) -> asyncio.Timeout:
        """The time of the next attempt. Waits are counted anew, so that it finds their answers."""
        self.attempt, self._waits, self.unclear = number, 0, None
        self.time = asyncio.timeout(seconds)
        return self.time

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Stop the time of the attempt inside the block."""
        when = self.time.when()
        if when is None or self.time.expired():
            yield
            return
        loop = asyncio.get_running_loop()
        left = when - loop.time()
        self.time.reschedule(None)
        try:
            yield
        finally:
            if not self.time.expired():
                self.time.reschedule(loop.time() + left)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """While the user is asked by a service: the state of the visit is `waiting`."""
        with self.waiting(), self._execution.state(self._short_step, "waiting"):
            yield

    async def begin(self, tool: str) -> None:
        asked = self._runtime.clock.monotonic()
        await self._execution.guard.begin(self._short_step, tool)
        # The record says that the run was this worker's; the process may have been frozen since.
        self._execution.confirmed = asked
        await self._execution.confirm()
        self.unclear = tool

    async def take_back(self) -> None:
        await self._execution.guard.take_back(self._short_step)
        self.unclear = None

    async def call(self, use: NodeCall) -> ToolResult:
        services = self._runtime.services
        repeatable = services.repeatable(use, self.info)
        if repeatable:
            await self._execution.confirm()  # This process may have been frozen since the visit began.
        else:
            await self.begin(use.tool)
        try:
            result = await services.call(use, self)
        except ToolcribError as error:
            if not _outcome_unknown(error):
                self.unclear = None
            raise
        self.unclear = None
        return result

    async def ask_model(self, task: ModelTask) -> ModelAnswer:
        return await self._runtime.services.ask_model(task, self)

    async def ask_user(self, question: NodeQuestion) -> UserAnswer:
        seconds = question.deadline or self.info.workflow.options.question_deadline
        async with self._wait("question", _content(question), seconds) as wait:
            try:
                answer = _read_answer(await self._runtime.waits.answer_of(wait))
            except TimeoutError:
                raise QuestionExpired(
                    "The question was not answered in time.", hint="Start the run again from this step."
                ) from None
        self.note("answer", choice=answer.choice, comment=answer.comment)
        return answer

    def held(self, server: str) -> bool:
        return (self._short_step, _wait_number(server)) in self._execution.guard.held

    async def wait_for_server(
        self, server: str, text: str, ready: Callable[[], Coroutine[Any, Any, None]]
    ) -> bool:
        question = NodeQuestion(text=text, choices=(STOP,), shown={"server": server})
        key = WaitKey(self._execution.run, self._short_step, _wait_number(server))
        seconds, waits = self.info.workflow.options.question_deadline, self._runtime.waits
        wait = await waits.open(key, self.run, "server", _content(question), seconds)
        if wait.answered:
            return False
        with self.asking():
            there = asyncio.create_task(ready())
            await asyncio.sleep(0)  # A server that is ready now is used, whatever the deadline was.
            answer = None if there.done() else asyncio.create_task(self._ended(wait))
            try:
                await asyncio.wait([task for task in (there, answer) if task], return_when="FIRST_COMPLETED")
                found = there.done()
            finally:
                await cancel_and_wait(answer, there)
        if found:
            there.result()
            await waits.remove(key)
            self._execution.guard.held.discard((key.step, key.number))
        return found

    async def _ended(self, wait: Wait) -> None:
        with suppress(TimeoutError):
            await self._runtime.waits.answer_of(wait)

    async def wait_until(self, moment: datetime) -> None:
        seconds = (moment - self.now()).total_seconds()
        async with self._wait("time", {"until": moment.isoformat()}, seconds) as wait:
            await self._runtime.waits.moment_of(wait)

    async def wait_for(self, seconds: float) -> None:
        async with self._wait("time", {"seconds": seconds}, seconds) as wait:
            await self._runtime.waits.duration_of(wait)

    async def wait_for_event(self, name: str, deadline: float | None) -> Any:
        async with self._wait("event", {"name": name}, deadline) as wait:
            try:
                event = await self._runtime.waits.event_of(wait, self.run, name)
            except TimeoutError:
                raise EventExpired(f"The event {name!r} did not come in time.") from None
        if event.source:
            await self._runtime.services.add_results(self.info, [event.source])
        return event.data

    async def run_workflow(self, name: str, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        with self.waiting():
            return await ChildRuns(self._execution, self).run_workflow(name, inputs)

    async def run_code(self, code: str, inputs: Mapping[str, Any], timeout: float | None) -> Any:
        return await self._runtime.services.run_code(code, inputs, timeout, self)

    def keep(self, data: bytes, media_type: str) -> str:
        artifact = self._runtime.services.keep(data, media_type, self)
        self.artifacts.append(artifact)
        return artifact

    def note(self, kind: str, **facts: Any) -> None:
        if len(self.notes) < MOST_NOTES:
            told = {name: shown(value) for name, value in facts.items()}
            self.notes.append({"kind": kind, "time": self.now().isoformat(), **told})

    def now(self) -> datetime:
        return self._runtime.clock.now()

    @asynccontextmanager
    async def _wait(
        self, kind: str, content: Mapping[str, Any], seconds: float | None
    ) -> AsyncIterator[Wait]:
        """A durable wait; the state of the visit is `waiting` inside the block."""
        self._waits += 1
        key = WaitKey(self._execution.run, self._short_step, self._waits)
        stored = self._execution.plan.secrets.hide(content)
        with self.waiting():  # also while a busy database stores it
            wait = await self._runtime.waits.open(key, self.run, kind, stored, seconds)
            with self._execution.state(self._short_step, "waiting"):
                yield wait


def _wait_number(server: str) -> int:
    """A negative one: those of other waits count from 0."""
    return -1 - (crc32(server.encode()) >> 1)


def _content(question: NodeQuestion) -> Mapping[str, Any]:
    return {key: value for key, value in asdict(question).items() if key != "deadline"}


def _outcome_unknown(error: ToolcribError) -> bool:
    """Whether the call may have happened although it failed."""
    return isinstance(error, CallTimeout | ConnectionLost) and not isinstance(error, NotDelivered)


class ItemFailed(CallFailed):
    """An item of a map failed."""

    kind = "item_failed"


class SubWorkflowFailed(CallFailed):
    """A sub-workflow failed or was cancelled."""

    kind = "sub_workflow_failed"


class ChildRuns:
    """The runs that belong to one visit: the items of a map, or a sub-workflow."""

    def __init__(self, execution: Execution, context: VisitContext) -> None:
        self._execution = execution
        self._runtime = execution.runtime
        self._context = context

    async def run_map(self, visit: Visit) -> dict[str, Any]:
        """The results of all items, at most `at_once` at a time."""
        settings: Any = visit.settings
        results: list[Any] = [None] * len(settings.items)
        errors: dict[int, str] = {}
        items = iter(enumerate(settings.items))
        values = self._execution.walk.values_for(visit.node)

        async def work(remaining: Iterator[tuple[int, Any]]) -> None:
            for index, item in remaining:
                try:
                    results[index] = await self._item(visit, index, item, values)
                except RunFailed as error:
                    if settings.on_error == "stop":
                        raise ItemFailed(
                            f"Item {index}: {error}", hint='Or set on_error to "continue".'
                        ) from None
                    errors[index] = str(error)

        with self._context.waiting():
            await self._all(work(items) for _ in range(min(settings.at_once, len(results))))
        failed = [{"index": index, "message": errors[index]} for index in sorted(errors)]
        return checked_value(  # type: ignore[no-any-return]
            {"results": results, "count": len(results), "failed": len(failed), "errors": failed}
        )

    async def run_workflow(self, name: str, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """The outputs of a sub-workflow."""
        child = _attempt_id(
            f"{self._execution.run}/{self._context.step.rpartition('/')[2]}", self._context.attempt
        )
        self._context.note("sub_workflow", workflow=name, run=child)
        try:
            if (outcome := await final_outcome(self._runtime.database, child)) is None:
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
        secrets = (await self._runtime.documents.plan(child)).secrets
        return dict(secrets.reveal(result["outputs"]))

    async def _add_results(self, outcome: Mapping[str, Any]) -> None:
        await self._runtime.services.add_results(self._execution.info, outcome.get(CALLED, ()))

    async def _sub_document(self, child: str, name: str, inputs: Mapping[str, Any]) -> Document:
        execution = self._execution
        if execution.plan.depth >= DEEPEST:
            raise UsageError(f"Sub-workflows are nested more than {DEEPEST} levels deep.")
        workflow = await self._runtime.services.find_workflow(name, execution.info)
        compile_workflow(workflow)
        now = self._runtime.clock.now()
        await insert_run(self._runtime.database, child, name, now.timestamp(), parent=execution.root)
        document = root_document(
            workflow,
            complete_inputs(workflow, inputs),
            run=child,
            started=now.isoformat(),
            parent=execution.root,
            depth=execution.plan.depth + 1,
            results_of=self._runtime.services.tools_called(execution.info),
        )
        return await self._runtime.documents.seal(document, execution.plan.secrets)

    async def _item(self, visit: Visit, index: int, item: Any, values: Mapping[str, Any]) -> Any:
        """One item. A second attempt of the map repeats only the items that failed."""
        name = f"{visit.step}[{index}]"
        for attempt in range(1, self._context.attempt):
            earlier_id = _attempt_id(f"{self._execution.run}/{name}", attempt)
            earlier = await final_outcome(self._runtime.database, earlier_id)
            if earlier is not None and earlier.status == "SUCCESS":
                return self._execution.plan.secrets.reveal(self._result(earlier_id, earlier)["outputs"])
        part = MapItem(map=visit.node, item=item, index=index, values=values)
        path = f"{self._execution.path}{_attempt_id(name, self._context.attempt)}/"
        secrets = self._execution.plan.secrets
        document = item_document(self._execution.root, path, part, secrets)
        child = _attempt_id(f"{self._execution.run}/{name}", self._context.attempt)
        return secrets.reveal((await self._run(child, document))["outputs"])

    def _result(self, child: str, outcome: FinalOutcome) -> Any:
        serializer = self._runtime.serializer
        result = result_of(outcome, serializer)
        serializer.check_run(result, child)
        return result

    async def _run(self, child: str, document: Document) -> Any:
        """Start a child, or find it, and wait for its result; raises `RunFailed`."""
        try:
            result = await outside_of_runs(lambda: self._execution.start(child, document))
            self._runtime.serializer.check_run(result, child)
            return result
        except DBOSAwaitedWorkflowCancelledError:
            raise RunFailed({"kind": "cancelled", "message": "It was cancelled."}) from None
        except asyncio.CancelledError:
            if self._execution.given_up:
                await outside_of_runs(lambda: DBOS.cancel_workflow_async(child, cancel_children=True))
            raise

    async def _all(self, works: Iterator[Any]) -> None:
        """Run all, and stop all when one fails, with its error."""
        tasks = [asyncio.create_task(work) for work in works]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _attempt_id(name: str, attempt: int) -> str:
    return name if attempt == 1 else f"{name}~{attempt}"


class CheckFailed(CallFailed):
    """What should hold does not."""

    kind = "check_failed"


async def check_all(checks: Sequence[Check], context: VisitContext, values: Mapping[str, Any]) -> None:
    """Note every outcome; raises `CheckFailed` for the first that fails."""
    outcomes = [await run_check(check, context, values) for check in checks]
    for outcome in outcomes:
        context.note("check", **asdict(outcome))
    if failed := [outcome.reason for outcome in outcomes if outcome.fails]:
        raise CheckFailed(f"A check failed: {failed[0]}.", hint="See what the step did.")


class StepTimeout(CallFailed):
    """One attempt took too long."""

    kind = "timeout"


class Attempts:
    """Runs one visit to its end."""

    def __init__(self, execution: Execution, visit: Visit) -> None:
        self._execution = execution
        self._visit = visit
        self._compiled = execution.plan.graph.nodes[visit.node]
        self._node = self._compiled.node
        self._retry = self._node.retry or ONCE
        self._context = VisitContext(execution, visit.step, visit.node)
        self._context.notes += [dict(note) for note in visit.notes[-MOST_NOTES:]]
        self._attempts: list[dict[str, Any]] = []
        self._started = execution.runtime.clock.now()

    async def run(self) -> Trace:
        """The whole visit; a failure is part of the trace."""
        left = self._execution.time_left()
        try:
            async with asyncio.timeout(left) as run_time:
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
            begun = self._execution.runtime.clock.now()
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
            if not time.expired():
                raise
            raise StepTimeout(
                f"It took longer than {seconds:g} seconds.", hint="Raise the timeout of the step."
            ) from None

    @property
    def _is_map(self) -> bool:
        return self._compiled.type.flow == "map"

    async def _run_node(self) -> Any:
        settings = self._visit.settings
        if self._is_map:
            return await ChildRuns(self._execution, self._context).run_map(self._visit)
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
            await self._execution.runtime.clock.sleep(pause)

    async def _settle(self) -> None:
        if self._node.settle:
            await self._execution.runtime.clock.sleep(self._node.settle)

    def _note_attempt(self, begun: Any, error: Exception | None) -> None:
        if error is not None and error_of(error)["kind"] == "internal":
            logger.error(
                "a node failed", exc_info=error, extra={"run": self._execution.run, "step": self._visit.step}
            )
        self._attempts.append(
            {
                "started": begun.isoformat(),
                "ended": self._execution.runtime.clock.now().isoformat(),
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
            "ended": self._execution.runtime.clock.now().isoformat(),
        }


def _known(answer: UserAnswer) -> Any:
    """The result that the user filled in, if any."""
    return dict(answer.values) or None


async def check_workflow(execution: Execution) -> dict[str, Any]:
    """Whether the checks of the whole workflow hold; part of the last step's record."""
    await execution.begin()
    context = VisitContext(execution, CHECKS, "")
    error = None
    try:
        await check_all(execution.info.workflow.checks, context, execution.walk.values)
    except ToolcribError as failed:
        error = error_of(failed)
    return execution.stored({"error": error, "notes": context.notes})


async def run_visit(execution: Execution, visit: Visit) -> Trace:
    """Run one visit to its end; a failure is part of the trace."""
    return await Attempts(execution, visit).run()
