"""Deadlines of requests: what they cover, what extends them, and what stops their clock."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from tests.loop_clock import LoopClock, settle
from tests.servers.stage import Stage
from toolcrib.errors import CallTimeout
from toolcrib.servers.sessions import peer as peer_module
from toolcrib.servers.sessions.peer import LONGEST_EXTENDED_CALL

pytestmark = pytest.mark.usefixtures("tidy")


async def test_a_late_answer_is_a_timeout_and_the_other_side_is_told(stage: Stage, clock: LoopClock):
    call = stage.call(timeout=10)
    await stage.wire.request()
    await clock.passes(10)
    with pytest.raises(CallTimeout, match="srv did not answer call within 10 s"):
        await call
    sent = await stage.wire.until(lambda sent: len(sent) == 2)
    assert sent[1] == {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 1, "reason": "timed out"},
    }
    assert stage.peer.oldest_request is None
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
    assert stage.peer.oldest_request is None


async def test_what_may_not_be_cancelled_is_left_without_a_word(stage: Stage, clock: LoopClock):
    left = stage.call(timeout=10, cancellable=False)
    await stage.wire.request()
    await clock.passes(10)
    with pytest.raises(CallTimeout):
        await left
    call = stage.call()
    await stage.wire.request(2)
    stage.reply(2)
    await call
    assert [message["method"] for message in stage.wire.sent] == ["call", "call"]


async def test_the_deadline_covers_the_write(stage: Stage, clock: LoopClock):
    stage.wire.clog()
    call = stage.call(timeout=10)
    await settle()
    await clock.passes(10)
    with pytest.raises(CallTimeout):
        await call
    assert stage.peer.oldest_request is None
    assert stage.wire.sent == []


async def test_a_notification_that_is_not_read_runs_out_too(stage: Stage, clock: LoopClock):
    stage.wire.clog()
    notice = stage.peer.notify("notifications/x", timeout=10)
    with pytest.raises(CallTimeout, match="did not read notifications/x"):
        await clock.outlasts(notice, 10, begun=settle())


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
    stage.progress(1, progress=0.5)
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
    await settle()
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
    await settle()
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
    await settle()
    call = stage.call(timeout=10)
    await stage.wire.request()
    await clock.passes(11)
    with pytest.raises(CallTimeout):
        await call
    stage.answers.go_on.set()
    await stage.answer_to("q")
