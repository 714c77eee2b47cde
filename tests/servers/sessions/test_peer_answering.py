"""Requests and notices of the other side: answered, refused, taken back, and never too many."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from tests.servers.stage import Stage
from toolcrib.errors import CallFailed
from toolcrib.servers.sessions import peer as peer_module
from toolcrib.servers.sessions.peer import MAX_INCOMING_REQUESTS, MAX_WAITING_NOTICES

pytestmark = pytest.mark.usefixtures("tidy")


@pytest.mark.parametrize("request_id", [0, "abc", -3, "", 2**70])
async def test_a_request_is_answered_under_its_own_id(stage: Stage, request_id: Any):
    stage.ask(request_id, "echo", x=1)
    assert await stage.answer_to(request_id) == {
        "jsonrpc": "2.0",
        "id": request_id,
        "result": {"echo": {"x": 1}},
    }


@pytest.mark.parametrize("request_id", [None, [1], {"a": 1}, [], True, 7.5, 1.0])
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
        ("unwritable", -32603, "Not valid as JSON"),
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


@pytest.mark.parametrize("taken_back", ["1", 1.0, True, None])
async def test_only_the_exact_id_takes_a_request_back(stage: Stage, taken_back: Any):
    stage.ask(1, "echo")
    params = {"requestId": taken_back}
    stage.peer.receive({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    assert (await stage.answer_to(1))["result"] == {"echo": {}}


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
