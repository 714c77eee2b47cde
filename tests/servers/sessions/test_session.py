"""A session over a real pipe: what is asked, what comes back unchanged, and when it fails."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
from typing import Any

import pytest

from tests.loop_clock import LoopClock, settle
from tests.servers.puppets import (
    LEGACY,
    MODERN,
    SCRIPTS,
    SILENCE,
    TOOL,
    Message,
    Puppet,
    Refusal,
    with_capabilities,
)
from toolcrib.errors import CallTimeout, ConnectionLost, PeerError, ToolcribError
from toolcrib.servers.sessions import session
from toolcrib.servers.transports.stdio import StdioLink

pytestmark = pytest.mark.usefixtures("tidy")
ERAS = pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
BOTH_LOOPS = True
SOON = 60.0

EVERYTHING: dict[str, Any] = {
    "content": [
        {
            "type": "text",
            "text": "é ☃ 😀 \u0000 \u2028",
            "annotations": {"priority": 0.5},
            "x-unknown": [None],
        },
        {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
        {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "file:///a", "text": "t", "_meta": {"a/b": 1}}},
        {"type": "resource", "resource": {"uri": "file:///b", "blob": "AAAA", "mimeType": "x/y"}},
        {"type": "resource_link", "uri": "file:///c", "name": "c", "size": 2**60, "icons": []},
        {"type": "hologram", "of": {"the": "future"}},
        "not even an object",
    ],
    "structuredContent": {"n": 2**70, "f": 1e-7, "deep": [[[{}]]], "": None},
    "isError": False,
    "_meta": {"vendor/key": {"kept": True}},
    "unknown": {"kept": [1, 2.5, "3"]},
}

# Calls


@ERAS
async def test_every_kind_of_content_and_every_unknown_field_passes_unchanged(puppet, script):
    async with puppet({**script, "tools/call": EVERYTHING}) as server, server.connect() as session:
        result = await session.call_tool("anything", {"a": [1, "☃"]}, timeout=SOON)
        assert json.dumps(result) == json.dumps(EVERYTHING)
        sent = server.all("tools/call")[0]["params"]
        assert (sent["name"], sent["arguments"]) == ("anything", {"a": [1, "☃"]})


@ERAS
async def test_a_result_without_content_gets_an_empty_one_and_keeps_the_rest(puppet, script):
    script = {**script, "tools/call": {"structuredContent": {"a": 1}, "content": None}}
    async with puppet(script) as server, server.connect() as session:
        result = await session.call_tool("x", {}, timeout=SOON)
        assert result == {"structuredContent": {"a": 1}, "content": []}


@ERAS
async def test_a_tool_error_is_a_result_and_a_protocol_error_is_not(puppet, script):
    def react(server: Puppet, message: Message) -> Any:
        if message["params"]["name"] == "fails":
            return server.reply(message, {"content": [], "isError": True})
        return server.refuse(message, Refusal(-32602, "Unknown tool", {"name": "x"}))

    async with puppet({**script, "tools/call": react}) as server, server.connect() as session:
        assert (await session.call_tool("fails", {}, timeout=SOON))["isError"] is True
        with pytest.raises(PeerError, match="Unknown tool") as caught:
            await session.call_tool("missing", {}, timeout=SOON)
        assert (caught.value.code, caught.value.data) == (-32602, {"name": "x"})


@ERAS
async def test_meta_of_the_caller_goes_along(puppet, script):
    async with puppet({**script, "tools/call": {"content": []}}) as server, server.connect() as session:
        await session.call_tool("x", {}, timeout=SOON, meta={"traceparent": "00-abc"})
        meta = server.all("tools/call")[0]["params"]["_meta"]
        assert meta["traceparent"] == "00-abc"
        assert ("io.modelcontextprotocol/protocolVersion" in meta) == (script is MODERN)


@ERAS
async def test_two_hundred_calls_at_once_answered_in_any_order_each_get_their_own(puppet, script):
    waiting: list[Message] = []

    async def shuffle(server: Puppet, message: Message) -> None:
        waiting.append(message)
        if len(waiting) < 200:
            return
        for one in sorted(waiting, key=lambda one: hash(str(one["params"]["arguments"]["n"] * 7919))):
            number = one["params"]["arguments"]["n"]
            await server.reply(one, {"content": [{"type": "text", "text": str(number)}]})

    async def call(session: session.Session, number: int) -> str:
        result = await session.call_tool("x", {"n": number}, timeout=SOON)
        return str(result["content"][0]["text"])

    async with puppet({**script, "tools/call": shuffle}) as server, server.connect() as connected:
        answers = await asyncio.gather(*(call(connected, number) for number in range(200)))
    assert answers == [str(number) for number in range(200)]


@ERAS
async def test_progress_is_heard_on_the_way(puppet, script):
    async def work(server: Puppet, message: Message) -> None:
        token = message["params"]["_meta"]["progressToken"]
        for step in (1, 2.5):
            await server.notify(
                "notifications/progress", progressToken=token, progress=step, total=4, message="going"
            )
        await server.notify("notifications/progress", progressToken="another", progress=9)
        await server.reply(message, {"content": []})

    steps: list[Any] = []
    async with puppet({**script, "tools/call": work}) as server, server.connect() as session:
        await session.call_tool("x", {}, timeout=SOON, on_progress=lambda *step: steps.append(step))
        meta = server.all("tools/call")[0]["params"]["_meta"]
        assert ("io.modelcontextprotocol/clientInfo" in meta) == (script is MODERN)
    assert steps == [(1.0, 4.0, "going"), (2.5, 4.0, "going")]


@ERAS
async def test_a_cancelled_call_cancels_in_the_server_and_leaves_the_session_usable(puppet, script):
    async with puppet({**script, "tools/call": SILENCE}) as server, server.connect() as session:
        call = asyncio.ensure_future(session.call_tool("x", {}, timeout=SOON))
        request = await server.expect("tools/call")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        notice = await server.expect("notifications/cancelled")
        assert notice["params"]["requestId"] == request["id"]
        await server.reply(request, {"content": [{"type": "text", "text": "too late"}]})
        assert await session.list_tools(timeout=SOON) == [TOOL]
        assert session.oldest_request is None


@ERAS
async def test_a_late_call_is_cancelled_in_the_server_too(puppet, script, clock: LoopClock):
    async with puppet({**script, "tools/call": SILENCE}) as server, server.connect() as session:
        late = session.call_tool("x", {}, timeout=SOON)
        with pytest.raises(CallTimeout, match="did not answer tools/call within 60 s"):
            await clock.outlasts(late, SOON, begun=server.expect("tools/call"))
        request, notice = await server.expect("tools/call"), await server.expect("notifications/cancelled")
        assert notice["params"]["requestId"] == request["id"]
        assert session.oldest_request is None


@ERAS
async def test_a_stopped_server_cannot_hold_a_call_beyond_its_deadline_even_in_the_write(
    puppet, script, brisk, clock: LoopClock, monkeypatch
):
    full = asyncio.Event()
    pause_writing = StdioLink.pause_writing
    monkeypatch.setattr(StdioLink, "pause_writing", lambda link: (pause_writing(link), full.set()))
    async with puppet({**script, "tools/call": {"content": []}}) as server, server.connect() as session:
        await session.call_tool("x", {}, timeout=SOON)
        os.kill(session.pid, signal.SIGSTOP)
        large = session.call_tool("x", {"body": "x" * (5 << 20)}, timeout=SOON)
        with pytest.raises(CallTimeout):
            await clock.outlasts(large, SOON, begun=full.wait())
        next_one = session.call_tool("x", {}, timeout=SOON)
        with pytest.raises(CallTimeout):  # this one does not even come to write
            await clock.outlasts(next_one, SOON, begun=settle())
        assert session.oldest_request is None
        os.kill(session.pid, signal.SIGCONT)
        assert await session.call_tool("x", {}, timeout=SOON) == {"content": []}
        assert len(server.all("tools/call")) == 3
        os.kill(session.pid, signal.SIGSTOP)


@ERAS
async def test_when_the_server_dies_all_calls_fail_at_once_each_with_its_own_exception(puppet, script):
    async with puppet({**script, "tools/call": SILENCE}) as server, server.connect() as session:
        calls = [asyncio.ensure_future(session.call_tool("x", {}, timeout=600)) for _ in range(10)]
        await server.expect("tools/call", 10)
        os.kill(session.pid, signal.SIGKILL)
        async with asyncio.timeout(SOON):
            errors = await asyncio.gather(*calls, return_exceptions=True)
            reason = await session.lost
        assert {type(error) for error in errors} == {ConnectionLost}
        assert {str(error) for error in errors} == {"puppet was killed by signal 9."}
        assert len({id(error) for error in [*errors, reason]}) == 11
        with pytest.raises(ConnectionLost, match="signal 9"):
            await session.call_tool("x", {}, timeout=600)


@ERAS
async def test_closing_the_session_ends_calls_of_other_tasks(puppet, script):
    async with puppet({**script, "tools/call": SILENCE}) as server:
        async with server.connect() as session:
            call = asyncio.ensure_future(session.call_tool("x", {}, timeout=600))
            await server.expect("tools/call")
        with pytest.raises(ConnectionLost, match="The connection to puppet was closed"):
            await call


# Notices and signs of life


@ERAS
async def test_notices_reach_whoever_listens(puppet, script):
    async with puppet(script) as server, server.connect():
        await server.notify("notifications/message", level="warning", data={"a": [1]}, logger="db")
        assert await server.noticed("notifications/message") == [
            {"level": "warning", "data": {"a": [1]}, "logger": "db"}
        ]


async def test_a_legacy_change_is_heard_unasked(puppet):
    async with puppet(LEGACY) as server, server.connect():
        await server.say(b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n')
        assert await server.noticed("notifications/tools/list_changed") == [{}]
        assert not server.all("subscriptions/listen")


async def test_whoever_listens_may_fail_without_harm(puppet, caplog):
    async with puppet(LEGACY) as server:

        def stumble(method: str, params: dict[str, Any]) -> None:
            raise RuntimeError("a bug in whoever listens")

        server._notice = stumble
        async with server.connect() as session:
            with caplog.at_level(logging.CRITICAL, logger="toolcrib.servers.sessions.peer"):
                await server.notify("notifications/message", data="x")
                assert await session.list_tools(timeout=SOON) == [TOOL]


@ERAS
async def test_a_sign_of_life_may_be_a_refusal(puppet, script, clock: LoopClock):
    async with puppet(script) as server, server.connect() as session:
        await session.check(timeout=SOON)
        server.script["ping"] = server.script["server/discover"] = Refusal(-32601)
        await session.check(timeout=SOON)
        assert len(server.all("ping")) == (2 if script is LEGACY else 0)
        server.script["ping"] = server.script["server/discover"] = SILENCE
        method = "ping" if script is LEGACY else "server/discover"
        asked = server.expect(method, len(server.all(method)) + 1)
        with pytest.raises(CallTimeout):
            await clock.outlasts(session.check(timeout=SOON), SOON, begun=asked)


async def test_an_open_stream_does_not_count_as_busy(puppet):
    script = with_capabilities(MODERN, {"tools": {"listChanged": True}})
    async with puppet(script) as server, server.connect() as session:
        await server.expect("subscriptions/listen")
        assert session.oldest_request is None


async def test_the_modern_era_sends_no_notifications_of_its_own(puppet):
    for script, count in ((LEGACY, 1), (MODERN, 0)):
        async with puppet(script) as server, server.connect() as session:
            await session.notify("notifications/roots/list_changed")
            await session.list_tools(timeout=SOON)
            assert len(server.all("notifications/roots/list_changed")) == count


async def test_a_ping_of_the_server_is_answered(puppet):
    async with puppet(LEGACY) as server, server.connect():
        await server.ask("p1", "ping")
        assert await server.answer_to("p1") == {"jsonrpc": "2.0", "id": "p1", "result": {}}


async def test_the_pid_is_that_of_the_child(puppet):
    async with puppet(LEGACY) as server:
        async with server.connect() as session:
            assert isinstance(session.pid, int)
            os.kill(session.pid, 0)
        with pytest.raises(ProcessLookupError):
            os.kill(session.pid, 0)


async def test_an_exception_in_the_block_comes_out_as_it_is(puppet):
    async def stumble(server: Puppet) -> None:
        async with server.connect():
            raise ToolcribError("of the block")

    async with puppet(LEGACY) as server:
        with pytest.raises(ToolcribError, match="of the block"):
            await stumble(server)
