"""What a node sees of the world during one visit: the `NodeContext` of the engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import asdict
from datetime import datetime
from types import TracebackType
from typing import Any
from zlib import crc32

from toolcrib.errors import CallFailed, ConnectionLost, NotDelivered, ToolcribError
from toolcrib.features.workflows.engine.active_run import ActiveRun
from toolcrib.features.workflows.engine.waits import Wait, WaitKey
from toolcrib.features.workflows.ports import RunInfo
from toolcrib.graph.node_type import ModelAnswer, ModelTask, NodeCall, NodeQuestion, UserAnswer
from toolcrib.graph.trace import MOST_NOTES, shown
from toolcrib.graph.walk import Visit
from toolcrib.schema.tools import ToolResult
from toolcrib.tasks import cancel_and_wait

AGAIN = "Do it again"
DONE = "It was done"
STOP = "Stop here"
NUMBER = 0
"""The waits of the node itself count from 1."""


async def ask_again(execution: ActiveRun, visit: Visit, tools: list[str], reason: str) -> UserAnswer | None:
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
    wait = await execution.waits.open(key, execution.root, "uncertain", stored, seconds)
    try:
        answer = await execution.waits.answer_of(wait)
    except TimeoutError:
        return None
    return UserAnswer(
        choice=answer["choice"], values=answer.get("values") or {}, comment=answer.get("comment") or ""
    )


class AttemptTime:
    """An async context manager that raises `TimeoutError` after this many seconds of work."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._timeout = asyncio.timeout(seconds)
        self._waiting = 0

    @property
    def expired(self) -> bool:
        """Whether the time was over, in contrast to a `TimeoutError` of the attempt itself."""
        return self._timeout.expired()

    async def __aenter__(self) -> AttemptTime:
        await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._timeout.__aexit__(kind, error, trace)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Stop the time inside the block."""
        when = self._timeout.when()
        if when is None or self._timeout.expired():
            yield
            return
        loop = asyncio.get_running_loop()
        left = when - loop.time()
        self._timeout.reschedule(None)
        try:
            yield
        finally:
            if not self._timeout.expired():
                self._timeout.reschedule(loop.time() + left)


class QuestionExpired(CallFailed):
    """The user did not answer in time."""

    kind = "question_expired"


class EventExpired(CallFailed):
    """The event did not come in time."""

    kind = "event_expired"


class VisitContext:
    """One visit of a node, over all its attempts."""

    def __init__(self, execution: ActiveRun, step: str, node: str) -> None:
        self._execution = execution
        self._short_step = step
        self._waits = 0
        self.node = node
        self.notes: list[dict[str, Any]] = []
        self.artifacts: list[str] = []
        self.attempt = 1
        self.unclear: str | None = None
        """A tool whose call began in this attempt and whose outcome is unknown."""
        self.time = AttemptTime(None)

    @property
    def run(self) -> str:
        return self._execution.root

    @property
    def info(self) -> RunInfo:
        return self._execution.info

    @property
    def step(self) -> str:
        return self._execution.path + self._short_step

    def begin_attempt(self, number: int, seconds: float | None) -> AttemptTime:
        """The time of the next attempt. Waits are counted anew, so that it finds their answers."""
        self.attempt, self._waits, self.unclear = number, 0, None
        self.time = AttemptTime(seconds)
        return self.time

    def waiting(self) -> AbstractContextManager[None]:
        return self.time.waiting()

    @contextmanager
    def asking(self) -> Iterator[None]:
        """While the user is asked by a service: the state of the visit is `waiting`."""
        with self.waiting(), self._execution.state(self._short_step, "waiting"):
            yield

    async def begin(self, tool: str) -> None:
        asked = self._execution.clock.monotonic()
        await self._execution.guard.begin(self._short_step, tool)
        # The record says that the run was this worker's; the process may have been frozen since.
        self._execution.confirmed = asked
        await self._execution.confirm()
        self.unclear = tool

    async def take_back(self) -> None:
        await self._execution.guard.take_back(self._short_step)
        self.unclear = None

    async def call(self, use: NodeCall) -> ToolResult:
        services = self._execution.services
        repeatable = services.repeatable(use, self.info)
        if not repeatable:
            await self.begin(use.tool)
        try:
            result = await services.call(use, VisitView(self))
        except ToolcribError as error:
            if not _outcome_unknown(error):
                self.unclear = None
            raise
        self.unclear = None
        return result

    async def ask_model(self, task: ModelTask) -> ModelAnswer:
        return await self._execution.services.ask_model(task, VisitView(self))

    async def ask_user(self, question: NodeQuestion) -> UserAnswer:
        seconds = question.deadline or self.info.workflow.options.question_deadline
        async with self._wait("question", _content(question), seconds) as wait:
            try:
                answer = await self._execution.waits.answer_of(wait)
            except TimeoutError:
                raise QuestionExpired(
                    "The question was not answered in time.", hint="Start the run again from this node."
                ) from None
        self.note("answer", choice=answer["choice"], comment=answer.get("comment", ""))
        return UserAnswer(
            choice=answer["choice"], values=answer.get("values") or {}, comment=answer.get("comment") or ""
        )

    def held(self, server: str) -> bool:
        return (self._short_step, _wait_number(server)) in self._execution.guard.held

    async def wait_for_server(
        self, server: str, text: str, ready: Callable[[], Coroutine[Any, Any, None]]
    ) -> bool:
        question = NodeQuestion(text=text, choices=(STOP,), shown={"server": server})
        key = WaitKey(self._execution.run, self._short_step, _wait_number(server))
        seconds, waits = self.info.workflow.options.question_deadline, self._execution.waits
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
            await self._execution.waits.answer_of(wait)

    async def wait_until(self, moment: datetime) -> None:
        seconds = (moment - self.now()).total_seconds()
        async with self._wait("time", {"until": moment.isoformat()}, seconds) as wait:
            await self._execution.waits.moment_of(wait)

    async def wait_for(self, seconds: float) -> None:
        async with self._wait("time", {"seconds": seconds}, seconds) as wait:
            await self._execution.waits.duration_of(wait)

    async def wait_for_event(self, name: str, deadline: float | None) -> Any:
        async with self._wait("event", {"name": name}, deadline) as wait:
            try:
                event = await self._execution.waits.event_of(wait, self.run, name)
            except TimeoutError:
                raise EventExpired(f"The event {name!r} did not come in time.") from None
        if event.source:
            await self._execution.services.add_results(self.info, [event.source])
        return event.data

    async def run_workflow(self, name: str, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        with self.waiting():
            return await self._execution.children.run_workflow(self, name, inputs)

    async def run_code(self, code: str, inputs: Mapping[str, Any], timeout: float | None) -> Any:
        return await self._execution.services.run_code(code, inputs, timeout, VisitView(self))

    def keep(self, data: bytes, media_type: str) -> str:
        artifact = self._execution.services.keep(data, media_type, VisitView(self))
        self.artifacts.append(artifact)
        return artifact

    def note(self, kind: str, **facts: Any) -> None:
        if len(self.notes) < MOST_NOTES:
            told = {name: shown(value) for name, value in facts.items()}
            self.notes.append({"kind": kind, "time": self.now().isoformat(), **told})

    def now(self) -> datetime:
        return self._execution.clock.now()

    @asynccontextmanager
    async def _wait(
        self, kind: str, content: Mapping[str, Any], seconds: float | None
    ) -> AsyncIterator[Wait]:
        """A durable wait; the state of the visit is `waiting` inside the block."""
        self._waits += 1
        key = WaitKey(self._execution.run, self._short_step, self._waits)
        stored = self._execution.plan.secrets.hide(content)
        with self.waiting():  # also while a busy database stores it
            wait = await self._execution.waits.open(key, self.run, kind, stored, seconds)
            with self._execution.state(self._short_step, "waiting"):
                yield wait


class VisitView:
    """The visit as services see it: `VisitScope`."""

    def __init__(self, context: VisitContext) -> None:
        self._context = context
        self.run = context.info
        self.step = context.step
        self.node = context.node
        self.waiting = context.asking
        self.begin = context.begin
        self.wait_for_server = context.wait_for_server
        self.take_back = context.take_back
        self.held = context.held
        self.note = context.note


def _wait_number(server: str) -> int:
    """A negative one: those of other waits count from 0."""
    return -1 - (crc32(server.encode()) >> 1)


def _content(question: NodeQuestion) -> Mapping[str, Any]:
    return {key: value for key, value in asdict(question).items() if key != "deadline"}


def _outcome_unknown(error: ToolcribError) -> bool:
    """Whether the call may have happened although it failed."""
    from toolcrib.errors import CallTimeout

    return isinstance(error, CallTimeout | ConnectionLost) and not isinstance(error, NotDelivered)
