"""Requests and answers over a link that a test holds in its hands: deadlines, odd ids, floods, the end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from tests.servers.conftest import LoopClock
from toolcrib.errors import (
    CallFailed,
    CallTimeout,
    ConnectionLost,
    Denied,
    PeerError,
    ToolcribError,
    UsageError,
)
from toolcrib.servers import peer as peer_module
from toolcrib.servers.codec import encode
from toolcrib.servers.link import Message
from toolcrib.servers.peer import LONGEST_EXTENDED_CALL, MAX_INCOMING_REQUESTS, MAX_WAITING_NOTICES, Peer

pytestmark = pytest.mark.usefixtures("tidy")
SOON = 20.0


class Wire:
    """A link into a list. `clogged` is set while the far end does not read."""

    pid = None

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self._room = asyncio.Event()
        self._room.set()
        self._news = asyncio.Condition()

    async def send(self, message: Message) -> None:
        await self._room.wait()
        encode(message)
        async with self._news:
            self.sent.append(message)
            self._news.notify_all()

    def clog(self) -> None:
        self._room.clear()

    def unclog(self) -> None:
        self._room.set()

    async def until(self, condition: Callable[[list[Message]], Any]) -> list[Message]:
        async with asyncio.timeout(SOON), self._news:
            await self._news.wait_for(lambda: bool(condition(self.sent)))
        return self.sent

    async def request(self, number: int = 1) -> Message:
        """The so-many-th request that was sent."""

        def requests(sent: list[Message]) -> list[Message]:
            return [message for message in sent if "id" in message and "method" in message]

        return requests(await self.until(lambda sent: len(requests(sent)) >= number))[number - 1]


class Answers:
    """Answers what the test lays out; `ask` waits until it is told to go on."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.asked: list[str] = []
        self.notices: list[tuple[str, dict[str, Any]]] = []

    async def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(method)
        if method == "wait":
            await self.go_on.wait()
        if method == "refuse":
            raise PeerError("not you", code=-1, data={"why": "because"})
        if method == "deny":
            raise Denied("The person said no.")
        if method == "stumble":
            raise KeyError("a bug")
        if method == "unwritable":
            return {"value": object()}
        return {"echo": params}

    def noticed(self, method: str, params: dict[str, Any]) -> None:
        if method == "trip":
            raise RuntimeError("a bug in whoever listens")
        self.notices.append((method, params))


class Stage:
    """A peer with its link and its answers."""

    def __init__(self) -> None:
        self.wire = Wire()
        self.answers = Answers()
        self.peer = Peer(self.answers, server="srv")
        self.peer.attach(self.wire)

    def call(self, **options: Any) -> asyncio.Task[dict[str, Any]]:
        options = {"timeout": SOON, **options}
        return asyncio.ensure_future(self.peer.request("call", {"a": 1}, **options))

    def reply(self, request_id: Any, result: Any = None, **rest: Any) -> None:
        self.peer.receive({"jsonrpc": "2.0", "id": request_id, "result": result or {}, **rest})

    def ask(self, request_id: Any, method: str = "wait", **params: Any) -> None:
        self.peer.receive({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})

    def progress(self, token: Any, **params: Any) -> None:
        note = {"progressToken": token, **params}
        self.peer.receive({"jsonrpc": "2.0", "method": "notifications/progress", "params": note})

    async def answer_to(self, request_id: Any) -> Message:
        def found(sent: list[Message]) -> list[Message]:
            return [m for m in sent if "method" not in m and m["id"] == request_id]

        return found(await self.wire.until(found))[0]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    yield stage
    await stage.peer.close()


# Answers


async def test_a_request_gets_its_result(stage: Stage):
    call = stage.call()
    request = await stage.wire.request()
    assert request == {"jsonrpc": "2.0", "id": 1, "method": "call", "params": {"a": 1}}
    assert stage.peer.busy
    stage.reply(1, {"b": 2})
    assert await call == {"b": 2}
    assert not stage.peer.busy


async def test_two_hundred_calls_answered_backwards_each_get_their_own(stage: Stage):
    calls = [stage.call() for _ in range(200)]
    await stage.wire.request(200)
    for number in range(200, 0, -1):
        stage.reply(number, {"n": number})
    assert [result["n"] for result in await asyncio.gather(*calls)] == list(range(1, 201))


@pytest.mark.parametrize("echoed", ["1", 1.0])
async def test_an_id_may_come_back_as_text_or_as_a_float(stage: Stage, echoed: Any):
    call = stage.call()
    await stage.wire.request()
    stage.reply(echoed, {"ok": 1})
    assert await call == {"ok": 1}


@pytest.mark.parametrize(
    "odd", ["²", "x", "", "9" * 5000, -1, 0, 99, 1.5, float("nan"), float("inf"), [1], {"id": 1}, 10**30]
)
async def test_an_answer_to_nobody_is_passed_over(stage: Stage, odd: Any):
    call = stage.call()
    await stage.wire.request()
    stage.reply(odd, {"wrong": True})
    stage.progress(odd, progress=1)
    stage.reply(1, {"right": True})
    assert await call == {"right": True}


async def test_the_first_of_two_answers_counts(stage: Stage):
    call = stage.call()
    await stage.wire.request()
    stage.reply(1, {"n": 1})
    stage.reply(1, {"n": 2})
    assert await call == {"n": 1}
    stage.reply(1, {"n": 3})


async def test_an_error_carries_its_code_and_data(stage: Stage):
    call = stage.call()
    await stage.wire.request()
    error = {"code": -32602, "message": "bad", "data": {"field": "x"}}
    stage.peer.receive({"jsonrpc": "2.0", "id": 1, "error": error})
    with pytest.raises(PeerError, match="bad") as caught:
        await call
    assert (caught.value.code, caught.value.data) == (-32602, {"field": "x"})


@pytest.mark.parametrize("error", ["plain text", 5, [], {}, {"code": "x", "message": 3}])
async def test_a_misshapen_error_is_still_one(stage: Stage, error: Any):
    call = stage.call()
    await stage.wire.request()
    stage.peer.receive({"jsonrpc": "2.0", "id": 1, "error": error})
    with pytest.raises(PeerError) as caught:
        await call
    assert caught.value.code == -32603
    assert caught.value.message


@pytest.mark.parametrize("result", [None, 5, "text", [1], True])
async def test_a_result_that_is_no_object_is_an_error(stage: Stage, result: Any):
    call = stage.call()
    await stage.wire.request()
    stage.peer.receive({"jsonrpc": "2.0", "id": 1, "result": result})
    with pytest.raises(PeerError, match="no object"):
        await call


async def test_an_error_without_an_id_means_the_only_call_there_is(stage: Stage):
    call = stage.call()
    await stage.wire.request()
    stage.peer.receive({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "parse error"}})
    with pytest.raises(PeerError, match="parse error"):
        await call


async def test_an_open_stream_does_not_stand_in_the_way_of_an_error_without_an_id(stage: Stage):
    stream = stage.call(timeout=None)
    call = stage.call()
    await stage.wire.request(2)
    stage.peer.receive({"jsonrpc": "2.0", "error": {"code": -32700, "message": "parse error"}})
    with pytest.raises(PeerError, match="parse error"):
        await call
    stage.reply(1)
    await stream


async def test_an_error_without_an_id_is_blamed_on_none_of_several_calls(stage: Stage):
    calls = [stage.call(), stage.call()]
    await stage.wire.request(2)
    stage.peer.receive({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "parse error"}})
    stage.reply(1)
    stage.reply(2)
    assert await asyncio.gather(*calls) == [{}, {}]


async def test_an_open_stream_does_not_make_the_peer_busy(stage: Stage):
    stream = stage.call(timeout=None)
    await stage.wire.request()
    assert not stage.peer.busy
    stage.reply(1)
    await stream


async def test_what_json_cannot_hold_is_the_callers_mistake(stage: Stage):
    with pytest.raises(UsageError):
        await stage.peer.request("call", {"a": object()}, timeout=SOON)
    assert not stage.peer.busy


# Deadlines


async def test_a_late_answer_is_a_timeout_and_the_other_side_is_told(stage: Stage):
    with pytest.raises(CallTimeout, match=r"srv did not answer call within 0\.05 s"):
        await stage.call(timeout=0.05)
    sent = await stage.wire.until(lambda sent: len(sent) == 2)
    assert sent[1] == {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 1, "reason": "timed out"},
    }
    assert not stage.peer.busy
    stage.reply(1, {"too": "late"})


async def test_a_cancelled_call_tells_the_other_side_at_once(stage: Stage):
    first, second = stage.call(), stage.call()
    await stage.wire.request(2)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    sent = await stage.wire.until(lambda sent: len(sent) == 3)
    assert sent[2]["params"] == {"requestId": 2, "reason": "cancelled"}
    stage.reply(1)
    await first
    assert not stage.peer.busy


async def test_what_may_not_be_cancelled_is_left_without_a_word(stage: Stage):
    with pytest.raises(CallTimeout):
        await stage.call(timeout=0.02, cancellable=False)
    call = stage.call()
    await stage.wire.request(2)
    stage.reply(2)
    await call
    assert [message["method"] for message in stage.wire.sent] == ["call", "call"]


async def test_the_deadline_covers_the_write(stage: Stage):
    stage.wire.clog()
    with pytest.raises(CallTimeout):
        await stage.call(timeout=0.05)
    assert not stage.peer.busy
    assert stage.wire.sent == []


async def test_a_notification_that_is_not_read_runs_out_too(stage: Stage):
    stage.wire.clog()
    with pytest.raises(CallTimeout, match="did not read notifications/x"):
        await stage.peer.notify("notifications/x", timeout=0.05)


async def test_progress_is_asked_for_heard_and_keeps_the_call_alive(stage: Stage, clock: LoopClock):
    steps: list[tuple[float, float | None, str | None]] = []
    call = stage.call(timeout=10, on_progress=lambda *step: steps.append(step))
    request = await stage.wire.request()
    assert request["params"] == {"a": 1, "_meta": {"progressToken": 1}}
    for number in range(8):
        await clock.passes(8)
        stage.progress(1, progress=number, total=8, message="on it")
    stage.reply(1, {"done": True})
    assert await call == {"done": True}
    assert steps == [(float(number), 8.0, "on it") for number in range(8)]


@pytest.mark.parametrize(("timeout", "longest"), [(10, LONGEST_EXTENDED_CALL), (3000, 3000)])
async def test_progress_does_not_keep_a_call_alive_for_ever(
    stage: Stage, clock: LoopClock, timeout: float, longest: float
):
    call = stage.call(timeout=timeout, on_progress=lambda *step: None)
    await stage.wire.request()
    for _ in range(int(longest / 5) - 1):
        await clock.passes(5)
        stage.progress(1, progress=1)
    assert not call.done()
    await clock.passes(5)
    with pytest.raises(CallTimeout):
        await call


@pytest.mark.parametrize("odd", [None, "half", 10**400, [], True])
async def test_odd_progress_does_no_harm(stage: Stage, odd: Any):
    steps: list[Any] = []
    call = stage.call(on_progress=lambda *step: steps.append(step))
    await stage.wire.request()
    stage.progress(1, progress=odd, total=odd, message=odd)
    stage.progress("1", progress=0.5)
    stage.reply(1)
    await call
    assert steps[-1] == (0.5, None, None)
    assert len(steps) == 2


async def test_progress_of_a_call_that_did_not_ask_is_passed_over(stage: Stage):
    call = stage.call()
    await stage.wire.request()
    stage.progress(1, progress=1)
    stage.reply(1)
    await call


async def test_a_listener_that_fails_costs_only_what_it_heard(stage: Stage, caplog: pytest.LogCaptureFixture):
    def stumble(*step: Any) -> None:
        raise RuntimeError("a bug in whoever listens")

    call = stage.call(on_progress=stumble)
    await stage.wire.request()
    with caplog.at_level(logging.CRITICAL, logger=peer_module.__name__):
        stage.progress(1, progress=1)
        stage.peer.receive({"jsonrpc": "2.0", "method": "trip"})
    stage.reply(1)
    assert await call == {}


async def test_no_call_runs_out_while_the_other_side_waits_for_us(stage: Stage, clock: LoopClock):
    call = stage.call(timeout=10)
    await stage.wire.request()
    stage.ask("q")
    await clock.passes(0)
    await clock.passes(3600)
    assert not call.done()
    stage.answers.go_on.set()
    assert (await stage.answer_to("q"))["result"] == {"echo": {}}
    stage.reply(1)
    assert await call == {}


async def test_after_an_answer_the_clock_runs_on_where_it_stood(stage: Stage, clock: LoopClock):
    call = stage.call(timeout=100)
    await stage.wire.request()
    await clock.passes(40)
    stage.ask("q")
    await clock.passes(0)
    await clock.passes(3600)
    stage.answers.go_on.set()
    await stage.answer_to("q")
    await clock.passes(50)
    assert not call.done()
    await clock.passes(10)
    with pytest.raises(CallTimeout):
        await call


async def test_two_questions_at_once_hold_the_clock_until_both_are_answered(stage: Stage, clock: LoopClock):
    call = stage.call(timeout=10)
    await stage.wire.request()
    stage.ask("first")
    await clock.passes(1)
    first_go_on, stage.answers.go_on = stage.answers.go_on, asyncio.Event()
    stage.ask("second")
    await clock.passes(1)
    first_go_on.set()
    await stage.answer_to("first")
    await clock.passes(3600)
    assert not call.done()
    stage.answers.go_on.set()
    await stage.answer_to("second")
    await clock.passes(11)
    with pytest.raises(CallTimeout):  # nor is it held for ever
        await call


async def test_progress_during_a_question_does_not_start_the_clock(stage: Stage, clock: LoopClock):
    call = stage.call(timeout=10, on_progress=lambda *step: None)
    await stage.wire.request()
    stage.ask("q")
    await clock.passes(1)
    stage.progress(1, progress=1)
    await clock.passes(3600)
    assert not call.done()
    stage.answers.go_on.set()
    await stage.answer_to("q")
    await clock.passes(11)
    with pytest.raises(CallTimeout):
        await call


async def test_a_call_made_during_a_question_has_a_clock_of_its_own(stage: Stage, clock: LoopClock):
    stage.ask("q")
    await clock.passes(0)
    call = stage.call(timeout=10)
    await stage.wire.request()
    await clock.passes(11)
    with pytest.raises(CallTimeout):
        await call
    stage.answers.go_on.set()
    await stage.answer_to("q")


# Requests of the other side


@pytest.mark.parametrize("request_id", [0, "abc", 7.5, -3, "", 2**70, True])
async def test_a_request_is_answered_under_its_own_id(stage: Stage, request_id: Any):
    stage.ask(request_id, "echo", x=1)
    assert await stage.answer_to(request_id) == {
        "jsonrpc": "2.0",
        "id": request_id,
        "result": {"echo": {"x": 1}},
    }


@pytest.mark.parametrize("request_id", [None, [1], {"a": 1}, []])
async def test_a_request_with_an_impossible_id_is_refused(stage: Stage, request_id: Any):
    stage.ask(request_id, "echo")
    assert (await stage.answer_to(None))["error"]["code"] == -32600
    assert stage.answers.asked == []


@pytest.mark.parametrize("params", [None, [], "x", 5])
async def test_parameters_that_are_no_object_count_as_none(stage: Stage, params: Any):
    stage.peer.receive({"jsonrpc": "2.0", "id": 1, "method": "echo", "params": params})
    assert (await stage.answer_to(1))["result"] == {"echo": {}}


@pytest.mark.parametrize(
    ("method", "code", "words"),
    [
        ("refuse", -1, "not you"),
        ("deny", -32603, "The person said no."),
        ("stumble", -32603, "The handler failed"),
        ("unwritable", -32603, "cannot be written as JSON"),
    ],
)
async def test_a_handler_that_fails_is_an_error_to_the_other_side(
    stage: Stage, method: str, code: int, words: str, caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.CRITICAL, logger=peer_module.__name__):
        stage.ask(1, method)
        error = (await stage.answer_to(1))["error"]
    assert error["code"] == code
    assert words in error["message"]


async def test_a_request_taken_back_is_not_answered(stage: Stage):
    stage.ask("q")
    await asyncio.sleep(0)
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "q"}}
    stage.peer.receive(cancelled)
    stage.peer.receive(cancelled)
    stage.ask("r", "echo")
    await stage.answer_to("r")
    assert [message["id"] for message in stage.wire.sent] == ["r"]


@pytest.mark.parametrize("request_id", [None, [1], {}, "unknown", 1])
async def test_taking_back_what_was_never_asked_changes_nothing(stage: Stage, request_id: Any):
    call = stage.call()
    await stage.wire.request()
    params = {"requestId": request_id}
    stage.peer.receive({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    stage.reply(1)
    assert await call == {}


async def test_a_stream_ended_by_the_other_side_ends(stage: Stage):
    stream = stage.call(timeout=None)
    await stage.wire.request()
    stage.peer.receive({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    with pytest.raises(CallFailed, match="srv ended the stream"):
        await stream


async def test_a_flood_of_requests_is_refused_beyond_the_bound(stage: Stage):
    for number in range(500):
        stage.ask(number)
    refused = await stage.wire.until(lambda sent: len(sent) == 500 - MAX_INCOMING_REQUESTS)
    assert {message["error"]["message"] for message in refused} == {"Too many requests at once"}
    assert len(stage.answers.asked) == MAX_INCOMING_REQUESTS
    stage.answers.go_on.set()
    await stage.wire.until(lambda sent: len(sent) == 500)


async def test_a_flood_from_one_who_does_not_read_is_bounded_too(stage: Stage):
    stage.wire.clog()
    before = len(asyncio.all_tasks())
    for number in range(20_000):
        stage.ask(number, "echo")
        if number % 100 == 0:
            await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) - before <= MAX_INCOMING_REQUESTS + MAX_WAITING_NOTICES
    stage.wire.unclog()
    await stage.answer_to(0)


async def test_a_notification_reaches_whoever_listens(stage: Stage):
    stage.peer.receive({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}})
    stage.peer.receive({"jsonrpc": "2.0", "method": "odd", "params": [1]})
    assert stage.answers.notices == [("notifications/message", {"level": "info"}), ("odd", {})]


# The end


async def test_when_the_link_is_lost_every_caller_learns_it_at_once_each_with_its_own_exception(stage: Stage):
    calls = [stage.call() for _ in range(20)]
    await stage.wire.request(20)
    stage.peer.lost(ConnectionLost("srv exited with code 1.", hint="look"))
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(error) for error in outcomes} == {ConnectionLost}
    assert {str(error) for error in outcomes} == {"srv exited with code 1."}
    assert {error.hint for error in outcomes if isinstance(error, ToolcribError)} == {"look"}
    assert len({id(error) for error in outcomes}) == 20
    assert all(error.__traceback__ is not outcomes[0].__traceback__ for error in outcomes[1:])


async def test_a_caller_stuck_in_the_write_learns_the_reason_too(stage: Stage):
    class Pipe(Wire):
        async def send(self, message: Message) -> None:
            await self._room.wait()
            raise ConnectionLost("srv no longer reads its input.")

    pipe = Pipe()
    pipe.clog()
    stage.peer.attach(pipe)
    call = stage.call()
    await asyncio.sleep(0)
    stage.peer.lost(ConnectionLost("srv was killed by signal 9."))
    pipe.unclog()
    with pytest.raises(ConnectionLost, match="signal 9"):
        await call


async def test_after_the_loss_calls_fail_at_once_and_nothing_is_sent(stage: Stage):
    stage.peer.lost(ConnectionLost("gone"))
    stage.peer.lost(ConnectionLost("gone twice"))
    for _ in range(2):
        with pytest.raises(ConnectionLost, match=r"^gone$"):
            await stage.call()
    with pytest.raises(ConnectionLost):
        await stage.peer.notify("x")
    stage.ask(1, "echo")
    await asyncio.sleep(0)
    assert stage.answers.asked == []
    assert stage.wire.sent == []


async def test_a_cancelled_call_on_a_lost_link_says_nothing_more(stage: Stage):
    call = stage.call()
    await stage.wire.request()
    stage.peer.lost(ConnectionLost("gone"))
    call.cancel()
    with pytest.raises((asyncio.CancelledError, ConnectionLost)):
        await call
    assert len(stage.wire.sent) == 1


async def test_handlers_are_ended_with_the_link(stage: Stage):
    stage.ask(1)
    await asyncio.sleep(0)
    stage.peer.lost(ConnectionLost("gone"))
    await stage.peer.close()
    assert stage.wire.sent == []


async def test_closing_twice_is_fine_and_callers_hear_of_it(stage: Stage):
    call = stage.call()
    await stage.wire.request()
    await stage.peer.close()
    with pytest.raises(ConnectionLost, match="The connection to srv was closed"):
        await call
    await stage.peer.close()


async def test_closing_does_not_wait_for_a_far_end_that_does_not_read(stage: Stage):
    stage.wire.clog()
    for number in range(10):
        stage.ask(number, "echo")
    with pytest.raises(CallTimeout):
        await stage.call(timeout=0.02)
    await stage.peer.close()


async def test_without_a_link_there_is_no_call():
    peer = Peer(Answers(), server="srv")
    with pytest.raises(ConnectionLost, match="not connected"):
        await peer.request("x", timeout=1)
