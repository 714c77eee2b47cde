"""Requests over a link that a test holds in its hands: whose answer is whose, and how it all ends."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.loop_clock import LoopClock, settle
from tests.servers.stage import SOON, Answers, Stage, Wire
from toolcrib.errors import CallTimeout, ConnectionLost, PeerError, ToolcribError, UsageError
from toolcrib.servers.sessions.peer import Peer
from toolcrib.servers.transport import Message

pytestmark = pytest.mark.usefixtures("tidy")

# Answers


async def test_a_request_gets_its_result(stage: Stage):
    call = stage.call()
    request = await stage.wire.request()
    assert request == {"jsonrpc": "2.0", "id": 1, "method": "call", "params": {"a": 1}}
    assert stage.peer.oldest_request is not None
    stage.reply(1, {"b": 2})
    assert await call == {"b": 2}
    assert stage.peer.oldest_request is None


async def test_two_hundred_calls_answered_backwards_each_get_their_own(stage: Stage):
    calls = [stage.call() for _ in range(200)]
    await stage.wire.request(200)
    for number in range(200, 0, -1):
        stage.reply(number, {"n": number})
    assert [result["n"] for result in await asyncio.gather(*calls)] == list(range(1, 201))


@pytest.mark.parametrize(
    "odd",
    [
        *("1", 1.0, True, None, " 1", "01", "²", "x", "", "9" * 5000, -1, 0, 99, 1.5, float("nan")),
        *(float("inf"), [1], {"id": 1}, 10**30, False),
    ],
)
async def test_an_answer_to_nobody_is_passed_over(stage: Stage, odd: Any):
    call = stage.call()
    await stage.wire.request()
    stage.reply(odd, {"wrong": True})
    stage.peer.receive({"jsonrpc": "2.0", "id": odd, "error": {"code": 1, "message": "wrong"}})
    stage.progress(odd, progress=1)
    params = {"requestId": odd}
    stage.peer.receive({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
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
    with pytest.raises(PeerError, match="not an object"):
        await call


async def test_progress_counts_only_with_the_exact_token(stage: Stage):
    heard: list[float] = []
    call = stage.call(on_progress=lambda done, total, message: heard.append(done))
    await stage.wire.request()
    for number, token in enumerate(("1", 1.0, True, None, 1)):
        stage.progress(token, progress=number)
    stage.reply(1)
    await call
    assert heard == [4.0]


async def test_an_answer_without_an_id_ends_no_call_and_is_logged(stage: Stage, caplog: Any):
    stream = stage.call(timeout=None)
    call = stage.call()
    await stage.wire.request(2)
    stage.peer.receive({"jsonrpc": "2.0", "error": {"code": -32700, "message": "parse error"}})
    stage.peer.receive({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "parse error"}})
    stage.reply(2, {"right": True})
    stage.reply(1)
    assert await call == {"right": True}
    await stream
    assert "an answer without an id is ignored" in caplog.text


async def test_an_open_stream_does_not_make_the_peer_busy(stage: Stage):
    stream = stage.call(timeout=None)
    await stage.wire.request()
    assert stage.peer.oldest_request is None
    stage.reply(1)
    await stream


async def test_what_json_cannot_hold_is_the_callers_mistake(stage: Stage):
    with pytest.raises(UsageError):
        await stage.peer.request("call", {"a": object()}, timeout=SOON)
    assert stage.peer.oldest_request is None


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


async def test_closing_does_not_wait_for_a_far_end_that_does_not_read(stage: Stage, clock: LoopClock):
    stage.wire.clog()
    for number in range(10):
        stage.ask(number, "echo")
    call = stage.call(timeout=SOON)
    await settle()
    await clock.passes(SOON)
    with pytest.raises(CallTimeout):
        await call
    await stage.peer.close()


async def test_without_a_link_there_is_no_call():
    answers = Answers()
    peer = Peer(answers.answer, answers.noticed, server="srv")
    with pytest.raises(ConnectionLost, match="not connected"):
        await peer.request("x", timeout=1)
