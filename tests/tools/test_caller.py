from __future__ import annotations

import asyncio
import json
from typing import Any, cast

import pytest

from tests.loop_clock import LoopClock
from tests.tools.workshop import Limits, Workshop
from toolcrib.errors import (
    CallFailed,
    CallTimeout,
    ConnectionLost,
    Denied,
    InvalidArguments,
    PeerError,
    ServerNotReady,
    ToolcribError,
    UnknownTool,
    UsageError,
)
from toolcrib.schema.events import CallFinished
from toolcrib.schema.tools import Origin, Principal, Tool, ToolCall, ToolResult
from toolcrib.serverkit.context import ToolContext
from toolcrib.tools.caller import Caller
from toolcrib.tools.ports import Decision, OnProgress
from toolcrib.tools.results import CUT_NOTE, ERROR_NOTE, as_result
from toolcrib.tools.sources.inline import InlineTools


class Scripted:
    """A source of server tools that does what a test tells it to."""

    id = "scripted"
    origin: Origin = "mcp"

    def __init__(self, *outcomes: Any) -> None:
        self.outcomes = list(outcomes)
        self.calls: list[ToolCall] = []

    def tools(self) -> dict[str | None, list[dict[str, Any]]]:
        schema = {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}
        return {"far": [{"name": "work", "inputSchema": schema}]}

    def default_timeout(self, tool: Tool) -> float | None:
        return 7.0

    async def call(self, call: ToolCall, on_progress: OnProgress | None) -> ToolResult:
        self.calls.append(call)
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, BaseException):
            raise outcome
        return cast(ToolResult, outcome)


class Refusing:
    """A gate that stays shut."""

    async def check(self, call: ToolCall) -> Decision:
        return Decision(allowed=False, reason=f"{call.tool.name} is dangerous", rule="no-danger")


class Clock:
    """Time that passes only when a test says so; it stands in for the module `time`."""

    def __init__(self) -> None:
        self.now = 100.0

    def perf_counter(self) -> float:
        return self.now


class Thoughtful:
    """A gate whose person thinks for 54 seconds, and then says what they think."""

    def __init__(self, clock: Clock, *, allows: bool = True) -> None:
        self.clock = clock
        self.allows = allows

    async def check(self, call: ToolCall) -> Decision:
        self.clock.now += 54
        return Decision(allowed=self.allows, reason="asked", noted={"waited_ms": 54_000.0})


class Brisk(Scripted):
    """A source that takes 47 ms."""

    def __init__(self, clock: Clock, *outcomes: Any) -> None:
        super().__init__(*outcomes)
        self.clock = clock

    async def call(self, call: ToolCall, on_progress: OnProgress | None) -> ToolResult:
        self.clock.now += 0.047
        return await super().call(call, on_progress)


OK = {"content": [{"type": "text", "text": "done"}], "unknown": {"kept": True}}


async def test_a_call_returns_the_source_s_result_unchanged_and_is_recorded(workshop: Workshop) -> None:
    source = Scripted(OK)
    door = workshop.open(source)

    result = await door.call("far__work", {"a": 1}, principal=Principal(name="agent", session="s1"))

    assert result is OK
    record = workshop.ledger.last
    assert (record.tool, record.server, record.principal, record.session) == (
        "far__work",
        "far",
        "agent",
        "s1",
    )
    assert (record.outcome, record.error) == ("ok", None)
    assert json.loads(record.arguments) == {"a": 1}
    assert record.bytes > 10
    assert record.ms >= 0
    assert record.call_id == source.calls[0].id


async def test_waiting_for_an_approval_is_not_counted_as_time_of_the_tool(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr("toolcrib.tools.caller.time", clock)
    workshop.gate = Thoughtful(clock)
    door = workshop.open(Brisk(clock, OK, CallTimeout("too late")))

    await door.call("far__work", {"a": 1})
    with pytest.raises(CallTimeout):
        await door.call("far__work", {"a": 1})

    assert [record.ms for record in workshop.ledger.records] == [pytest.approx(47), pytest.approx(47)]
    assert workshop.ledger.last.extra["waited_ms"] == 54_000
    assert door.counts.of("far").max_ms == pytest.approx(47)


async def test_a_call_that_never_ran_took_no_time(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr("toolcrib.tools.caller.time", clock)
    workshop.gate = Thoughtful(clock, allows=False)
    door = workshop.open(Brisk(clock))

    with pytest.raises(Denied):
        await door.call("far__work", {"a": 1})

    assert workshop.ledger.last.ms == 0


async def test_a_function_is_run_with_its_arguments(workshop: Workshop) -> None:
    @workshop.bench.tool()
    def add(a: float, b: float) -> str:
        """Add two numbers."""
        return str(a + b)

    door = workshop.open()

    result = await door.call("bench__add", {"a": 1, "b": 2})

    assert result["content"] == [{"type": "text", "text": "3.0"}]


async def test_a_name_with_the_prefix_is_recorded_under_the_tool_s_own(workshop: Workshop) -> None:
    door = workshop.open(Scripted(OK))

    await door.call("mcp__far__work", {"a": 1})

    assert workshop.ledger.last.tool == "far__work"


async def test_a_tool_that_says_it_failed_is_returned_and_recorded_as_such(workshop: Workshop) -> None:
    door = workshop.open(Scripted({"content": [], "isError": True}))

    assert (await door.call("far__work", {"a": 1}))["isError"]
    assert workshop.ledger.last.outcome == "tool_error"


async def test_wrong_arguments_reach_no_source(workshop: Workshop) -> None:
    source = Scripted()
    door = workshop.open(source)

    with pytest.raises(InvalidArguments, match='"a" is required'):
        await door.call("far__work")

    assert source.calls == []
    assert workshop.ledger.last.outcome == "invalid"
    assert workshop.ledger.last.error == 'invalid_arguments: far__work: "a" is required.'


@pytest.mark.parametrize("arguments", [[1], "a", 5])
async def test_arguments_that_are_no_object_are_refused(workshop: Workshop, arguments: Any) -> None:
    door = workshop.open(Scripted())

    with pytest.raises(InvalidArguments, match="must be an object"):
        await door.call("far__work", arguments)

    assert workshop.ledger.last.outcome == "invalid"


async def test_an_unknown_tool_is_recorded_too(workshop: Workshop) -> None:
    door = workshop.open(Scripted())

    with pytest.raises(UnknownTool):
        await door.call("far__wrk", {"password": "hunter2"})

    record = workshop.ledger.last
    assert (record.tool, record.server, record.outcome) == ("far__wrk", None, "invalid")
    assert record.error is not None
    assert record.error.startswith("unknown_tool: ")
    assert "hunter2" not in record.arguments


async def test_a_denied_call_reaches_no_source(workshop: Workshop) -> None:
    workshop.gate = Refusing()
    source = Scripted()
    door = workshop.open(source)

    with pytest.raises(Denied, match="far__work is dangerous") as caught:
        await door.call("far__work", {"a": 1})

    assert source.calls == []
    assert "no-danger" in caught.value.hint
    assert workshop.ledger.last.outcome == "denied"


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (CallTimeout("too slow"), "timeout"),
        (ServerNotReady("restarting"), "unavailable"),
        (ConnectionLost("gone"), "unavailable"),
        (PeerError("no", code=-32000), "failed"),
    ],
)
async def test_an_error_of_the_source_is_raised_and_recorded(
    workshop: Workshop, error: ToolcribError, outcome: str
) -> None:
    door = workshop.open(Scripted(error))

    with pytest.raises(type(error)):
        await door.call("far__work", {"a": 1})

    assert workshop.ledger.last.outcome == outcome
    assert workshop.ledger.last.error == f"{error.kind}: {error.message}"


@pytest.mark.parametrize("surprise", [ZeroDivisionError("oops"), None, "not a result"])
async def test_a_source_that_breaks_its_promise_is_an_error_like_any_other(
    workshop: Workshop, surprise: Any
) -> None:
    door = workshop.open(Scripted(surprise))

    with pytest.raises(CallFailed, match="failed unexpectedly"):
        await door.call("far__work", {"a": 1})

    assert workshop.ledger.last.outcome == "failed"


async def test_a_slow_function_is_ended_at_its_deadline(workshop: Workshop, clock: LoopClock) -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    @workshop.bench.tool()
    async def sleep() -> None:
        """Wait for ever."""
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    door = workshop.open()

    with pytest.raises(CallTimeout, match="within 30 seconds") as caught:
        await clock.outlasts(door.call("bench__sleep", timeout=30), 30, begun=started.wait())

    await asyncio.wait_for(ended.wait(), 60)
    assert caught.value.retryable
    assert workshop.ledger.last.outcome == "timeout"


async def test_a_cancelled_caller_cancels_the_call_and_it_is_recorded(workshop: Workshop) -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    @workshop.bench.tool()
    async def sleep() -> None:
        """Wait for ever."""
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    door = workshop.open()
    task = asyncio.create_task(door.call("bench__sleep"))
    await asyncio.wait_for(started.wait(), 60)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(ended.wait(), 60)
    assert workshop.ledger.last.outcome == "cancelled"


async def test_the_caller_s_deadline_wins_over_the_source_s_own(workshop: Workshop) -> None:
    source = Scripted(OK, OK)
    door = workshop.open(source)

    await door.call("far__work", {"a": 1})
    await door.call("far__work", {"a": 1}, timeout=1.5)

    assert [call.timeout for call in source.calls] == [7.0, 1.5]


async def test_progress_reaches_the_caller(workshop: Workshop) -> None:
    @workshop.bench.tool()
    async def count(context: ToolContext) -> str:
        """Count to two."""
        context.progress(1, 2, "half")
        context.progress(2, 2)
        return "two"

    heard: list[tuple[float, float | None, str | None]] = []
    door = workshop.open()

    await door.call("bench__count", on_progress=lambda *report: heard.append(report))

    assert heard == [(1, 2, "half"), (2, 2, None)]


async def test_an_overlarge_result_is_cut_for_the_caller_and_its_full_size_recorded(
    workshop: Workshop,
) -> None:
    workshop.limits = Limits(max_result_bytes=1000)
    large = {"content": [{"type": "text", "text": "x" * 5000}]}
    door = workshop.open(Scripted(large))

    result = await door.call("far__work", {"a": 1})

    assert result["_meta"][CUT_NOTE]["bytes"] > 5000
    assert len(large["content"][0]["text"]) == 5000
    assert workshop.ledger.last.bytes > 5000


async def test_secrets_reach_the_source_but_not_the_record(workshop: Workshop) -> None:
    seen: list[Any] = []

    @workshop.bench.tool()
    def send(api_key: str, text: str) -> None:
        """Send a text."""
        seen.append((api_key, text))
        raise ValueError(f"cannot send {text}")

    workshop.masker.learn(["known-secret"])
    door = workshop.open(Scripted(PeerError("leaked known-secret", code=1)))

    await door.call("bench__send", {"api_key": "k-123456", "text": "known-secret"})
    with pytest.raises(PeerError):
        await door.call("far__work", {"a": 1})

    first, second = workshop.ledger.records
    assert seen == [("k-123456", "known-secret")]
    assert json.loads(first.arguments) == {"api_key": "***", "text": "***"}
    assert second.error == "peer_error: leaked ***"


async def test_a_record_shows_the_arguments_as_they_were_given(workshop: Workshop) -> None:
    @workshop.bench.tool(quick=True)
    def empty(items: list[int]) -> None:
        """Take everything out."""
        items.clear()

    door = workshop.open()

    await door.call("bench__empty", {"items": [1, 2]})

    assert json.loads(workshop.ledger.last.arguments) == {"items": [1, 2]}


async def test_listeners_hear_of_every_finished_call(workshop: Workshop) -> None:
    door = workshop.open(Scripted(OK))

    with workshop.bus.subscribe() as heard:
        await door.call("far__work", {"a": 1})
        event = await asyncio.wait_for(heard.next(), 60)

    assert event == CallFinished(workshop.ledger.last)


async def test_calls_run_side_by_side(workshop: Workshop) -> None:
    together = asyncio.Barrier(50)

    @workshop.bench.tool()
    async def meet(number: int) -> str:
        """Wait for all the others."""
        await together.wait()
        return str(number)

    door = workshop.open()

    async with asyncio.timeout(60):
        results = await asyncio.gather(
            *(door.call("bench__meet", {"number": number}) for number in range(50))
        )

    assert [result["content"][0]["text"] for result in results] == [str(number) for number in range(50)]
    assert len({record.call_id for record in workshop.ledger.records}) == 50


async def test_a_tool_that_leaves_while_it_runs_still_answers(workshop: Workshop) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()

    @workshop.bench.tool()
    async def work() -> str:
        """Work."""
        started.set()
        await go_on.wait()
        return "done"

    door = workshop.open()
    call = asyncio.create_task(door.call("bench__work"))
    await asyncio.wait_for(started.wait(), 60)

    workshop.registry.withdraw("bench")
    go_on.set()

    assert (await call)["content"][0]["text"] == "done"
    with pytest.raises(ServerNotReady, match="belongs to the server bench"):
        await door.call("bench__work")


def test_two_sources_for_one_kind_of_tool_are_refused(workshop: Workshop) -> None:
    with pytest.raises(UsageError, match="inline"):
        Caller(
            workshop.registry,
            [InlineTools(), InlineTools()],
            workshop.gate,
            workshop.ledger,
            workshop.bus,
            workshop.limits,
        )


def test_an_error_is_data_for_a_model_as_well() -> None:
    error = ServerNotReady("The server demo is restarting.", hint="Try again in a moment.")

    assert as_result(error) == {
        "content": [{"type": "text", "text": "The server demo is restarting.\nTry again in a moment."}],
        "isError": True,
        "_meta": {ERROR_NOTE: {"kind": "server_not_ready", "retryable": True}},
    }
    assert as_result(Denied("No."))["content"] == [{"type": "text", "text": "No."}]
