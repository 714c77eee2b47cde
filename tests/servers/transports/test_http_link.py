"""Streamable HTTP, one exchange at a time: what arrives, and what each fault becomes."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from tests.servers.remote.heard import Heard, legacy, modern, note, result
from tests.servers.remote.scripted import DEADLINE, Call, Reply, scripted
from toolcrib.errors import AuthRequired, ConnectionLost, PeerError, RemoteUnreachable, ResultTooLarge


async def test_an_answer_in_a_body_arrives_unchanged():
    answer = {"content": [{"type": "hologram", "depth": 3}], "futureField": {"kept": [1, None]}, "n": 2**70}

    async def handler(call: Call, reply: Reply) -> None:
        await reply.json({**result(1, answer), "extra": "also kept"})

    heard = Heard()
    async with scripted(handler) as server, heard.over_http(server.url) as link:
        assert link.pid is None
        await link.send(modern(1))
    assert heard.messages == [{**result(1, answer), "extra": "also kept"}]


async def test_an_answer_in_a_stream_arrives_after_what_came_before_it():
    async def handler(call: Call, reply: Reply) -> None:
        await reply.stream()
        await reply.event(note("notifications/progress", progress=1))
        await reply.chunk(b": keep-alive\n\nevent: ping\ndata: x\n\ndata: rubbish\n\n")
        await reply.event(result(1, {"ok": True}))
        await reply.end()

    heard = Heard()
    async with scripted(handler) as server, heard.over_http(server.url) as link:
        await link.send(modern(1))
    assert heard.messages == [note("notifications/progress", progress=1), result(1, {"ok": True})]
    assert heard.log == ["not a message: rubbish"]


async def test_a_stream_that_stays_open_after_the_answer_holds_nobody_up():
    async def handler(call: Call, reply: Reply) -> None:
        await reply.stream()
        await reply.event(result(call.message["id"], {}))
        await reply.client_gone()

    heard = Heard()
    async with asyncio.timeout(DEADLINE), scripted(handler) as server, heard.over_http(server.url) as link:
        for number in range(5):
            await link.send(modern(number))
    assert [message["id"] for message in heard.messages] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("answered_id", ["1", 1.0, True, None, "server-error"])
async def test_an_answer_with_another_id_is_no_answer(answered_id: Any):
    async def handler(call: Call, reply: Reply) -> None:
        await reply.json(result(answered_id, {}))

    heard = Heard()
    async with scripted(handler) as server, heard.over_http(server.url) as link:
        with pytest.raises(PeerError, match="no valid answer"):
            await link.send(modern(1))
    assert [message for message in heard.messages if type(message["id"]) is int] == []


async def test_five_megabytes_pass_in_a_body_and_in_a_stream():
    text = "x" * 5_000_000

    async def handler(call: Call, reply: Reply) -> None:
        if call.message["id"] == 1:
            await reply.result(call, {"text": text})
            return
        await reply.stream()
        await reply.event(result(2, {"text": text}))
        await reply.end()

    heard = Heard()
    async with scripted(handler) as server, heard.over_http(server.url) as link:
        await link.send(modern(1))
        await link.send(modern(2))
    assert [len(message["result"]["text"]) for message in heard.messages] == [5_000_000, 5_000_000]


async def test_an_answer_above_the_bound_is_refused_and_the_link_lives_on():
    async def handler(call: Call, reply: Reply) -> None:
        number = call.message["id"]
        if number == 1:
            await reply.result(call, {"text": "x" * 20_000})
        elif number == 2:
            await reply.stream()
            await reply.event(result(2, {"text": "x" * 20_000}))
        elif number == 3:  # no length given, no end in sight
            await reply.raw(b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\n\r\n" + b"x" * 20_000)
        else:
            await reply.result(call, {})

    heard = Heard()
    async with scripted(handler) as server, heard.over_http(server.url, max_message_bytes=10_000) as link:
        for number in (1, 2, 3):
            with pytest.raises(ResultTooLarge):
                await link.send(modern(number))
        await link.send(modern(4))
    assert heard.messages == [result(4, {})]


# Fault test 28: each fault has its own error and words, and none harms the link.


async def test_a_refused_connection_says_so(unused_tcp_port: int):
    heard = Heard()
    async with heard.over_http(f"http://127.0.0.1:{unused_tcp_port}/hidden/mcp?key=hidden") as link:
        with pytest.raises(RemoteUnreachable, match="refused") as caught:
            await link.send(modern(1))
    assert "hidden" not in caught.value.message
    assert heard.losses == []


async def test_an_unknown_host_says_so(monkeypatch: pytest.MonkeyPatch):
    def no_such_name(*_: Any, **__: Any) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", no_such_name)
    async with Heard().over_http("http://mcp.invalid/mcp") as link:
        with pytest.raises(RemoteUnreachable, match="does not resolve"):
            await link.send(modern(1))


async def test_a_server_that_is_out_of_order_says_when_to_come_back():
    async def handler(call: Call, reply: Reply) -> None:
        await reply.send(503, b"down for repair", content_type="text/plain", retry_after="7")

    async with scripted(handler) as server, Heard().over_http(server.url) as link:
        with pytest.raises(RemoteUnreachable, match="HTTP 503: down for repair") as caught:
            await link.send(modern(1))
    assert "7 s" in caught.value.hint


async def test_too_many_requests_are_a_reason_to_wait_and_no_answer():
    async def handler(call: Call, reply: Reply) -> None:
        await reply.json({"jsonrpc": "2.0", "id": None, "error": {"code": -1, "message": "slow"}}, status=429)

    async with scripted(handler) as server, Heard().over_http(server.url) as link:
        with pytest.raises(RemoteUnreachable, match="HTTP 429: slow"):
            await link.send(modern(1))


async def test_a_caller_that_gives_up_on_a_hanging_server_closes_the_stream():
    gone = asyncio.Event()

    async def handler(call: Call, reply: Reply) -> None:
        if call.message["id"] == 2:
            await reply.stream()
        if call.message["id"] < 3:
            await reply.client_gone()
            gone.set()
        await reply.result(call, {})

    heard = Heard()
    async with scripted(handler) as server, heard.over_http(server.url) as link:
        for number in (1, 2):
            gone.clear()
            sending = asyncio.ensure_future(link.send(modern(number)))
            await server.until(lambda seen, count=number: len(seen) == count)
            sending.cancel()
            with pytest.raises(asyncio.CancelledError):
                await sending
            async with asyncio.timeout(DEADLINE):
                await gone.wait()
        await link.send(modern(3))
    assert heard.messages == [result(3, {})]
    assert heard.losses == []


@pytest.mark.parametrize("status", [401, 403])
async def test_a_server_that_wants_a_sign_in_says_how(status: int):
    async def handler(call: Call, reply: Reply) -> None:
        await reply.send(status, www_authenticate='Bearer resource_metadata="https://x/y"')

    heard = Heard()
    async with scripted(handler) as server, heard.over_http(server.url) as link:
        with pytest.raises(AuthRequired) as caught:
            await link.send(legacy(1, "initialize"))
    assert 'resource_metadata="https://x/y"' in caught.value.hint
    assert heard.losses == []


async def test_a_stream_cut_in_the_middle_fails_that_call_alone():
    async def handler(call: Call, reply: Reply) -> None:
        if call.message["id"] == 2:
            await reply.result(call, {})
            return
        await reply.stream()
        await reply.event(note("notifications/progress", progress=1), id="9")
        await reply.chunk(b'data: {"jsonrpc"')
        reply.cut()

    heard = Heard()
    async with scripted(handler) as server, heard.over_http(server.url) as link:
        with pytest.raises(ConnectionLost, match="lost during an answer"):
            await link.send(modern(1))
        await link.send(modern(2))
    assert [message.get("id") for message in heard.messages] == [None, 2]
    assert heard.losses == []
    assert server.seen == ["tools/call", "tools/call"]  # the modern era resumes nothing


async def test_a_body_cut_in_the_middle_is_a_lost_connection():
    async def handler(call: Call, reply: Reply) -> None:
        await reply.raw(b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{")
        reply.cut()

    async with scripted(handler) as server, Heard().over_http(server.url) as link:
        with pytest.raises(ConnectionLost, match="lost during an answer"):
            await link.send(modern(1))


async def test_a_connection_that_breaks_before_the_answer_is_a_lost_connection():
    async def handler(call: Call, reply: Reply) -> None:
        reply.cut()

    async with scripted(handler) as server, Heard().over_http(server.url) as link:
        with pytest.raises(ConnectionLost, match="lost before it answered"):
            await link.send(modern(1))


async def test_a_stream_that_ends_without_an_answer_is_a_lost_connection():
    async def handler(call: Call, reply: Reply) -> None:
        await reply.stream()
        await reply.end()

    async with scripted(handler) as server, Heard().over_http(server.url) as link:
        with pytest.raises(ConnectionLost, match="without an answer"):
            await link.send(modern(1))


async def test_one_failing_call_among_fifty_harms_no_other():
    everyone = asyncio.Event()
    arrived = 0

    async def handler(call: Call, reply: Reply) -> None:
        nonlocal arrived
        arrived += 1
        if arrived == 50:
            everyone.set()
        await everyone.wait()
        if call.message["id"] == 17:
            reply.cut()
            return
        await reply.result(call, {})

    heard = Heard()
    async with scripted(handler) as server, heard.over_http(server.url) as link:
        outcomes = await asyncio.gather(
            *(link.send(modern(number)) for number in range(50)), return_exceptions=True
        )
    failed = [number for number, outcome in enumerate(outcomes) if outcome is not None]
    assert failed == [17]
    assert isinstance(outcomes[17], ConnectionLost)
    assert sorted(message["id"] for message in heard.messages) == [n for n in range(50) if n != 17]


# What a server refuses in words of JSON-RPC is an answer; anything else is not.


@pytest.mark.parametrize("answered_id", [1, None, "server-error", "missing"])
@pytest.mark.parametrize("status", [400, 404, 409])
async def test_an_error_in_json_rpc_is_the_answer_whatever_its_id(status: int, answered_id: Any):
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": answered_id, "error": {"code": -32022, "message": "old"}}
    if answered_id == "missing":
        del body["id"]

    async def handler(call: Call, reply: Reply) -> None:
        await reply.json(body, status=status)

    heard = Heard()
    async with scripted(handler) as server, heard.over_http(server.url) as link:
        await link.send(modern(1, "server/discover"))
    assert heard.messages == [{**body, "id": 1}]


async def test_an_internal_error_that_answers_our_request_is_an_answer():
    async def handler(call: Call, reply: Reply) -> None:
        answered = 1 if call.message["id"] == 1 else None
        error = {"code": -32603, "message": "oh"}
        await reply.json({"jsonrpc": "2.0", "id": answered, "error": error}, status=500)

    heard = Heard()
    async with scripted(handler) as server, heard.over_http(server.url) as link:
        await link.send(modern(1))
        with pytest.raises(RemoteUnreachable, match="HTTP 500: oh"):
            await link.send(modern(2))
    assert [message["error"]["message"] for message in heard.messages] == ["oh"]


@pytest.mark.parametrize("status", [400, 404, 405, 406, 415])
async def test_a_refusal_in_other_words_lets_the_negotiation_go_on(status: int):
    async def handler(call: Call, reply: Reply) -> None:
        await reply.send(status, b"<html>nothing here</html>", content_type="text/html")

    async with scripted(handler) as server, Heard().over_http(server.url) as link:
        with pytest.raises(PeerError, match=f"HTTP {status}") as caught:
            await link.send(modern(1, "server/discover"))
    assert (caught.value.code, caught.value.data) == (-32600, {"status": status})


async def test_what_is_no_answer_at_all_is_named():
    async def handler(call: Call, reply: Reply) -> None:
        number = call.message["id"]
        if number == 1:
            await reply.send(200, b"<html>", content_type="text/html")
        elif number == 2:
            await reply.send(202)
        elif number == 3:
            await reply.send(200, b"{not json", content_type="application/json")
        else:
            await reply.json({"jsonrpc": "2.0", "method": "notifications/progress"})

    async with scripted(handler) as server, Heard().over_http(server.url) as link:
        for number, words in enumerate(["text/html", "none .HTTP 202", "no valid", "no valid"], start=1):
            with pytest.raises(PeerError, match=words):
                await link.send(modern(number))


async def test_leaving_ends_what_is_still_on_its_way_and_nothing_is_heard_afterwards():
    async def handler(call: Call, reply: Reply) -> None:
        await reply.stream()
        await reply.event(note("notifications/progress", progress=1))
        await reply.client_gone()

    heard = Heard()
    async with scripted(handler) as server:
        async with heard.over_http(server.url) as link:
            sending = asyncio.ensure_future(link.send(modern(1)))
            await heard.until(lambda heard: len(heard.messages) == 1)
        async with asyncio.timeout(DEADLINE):
            with pytest.raises(ConnectionLost):
                await sending
        with pytest.raises(ConnectionLost):
            await link.send(modern(2))
    assert len(heard.messages) == 1
    assert heard.losses == []


async def test_many_abandoned_calls_leave_no_connection_behind():
    open_connections = 0
    changed = asyncio.Event()

    async def handler(call: Call, reply: Reply) -> None:
        nonlocal open_connections
        if call.message["id"] == 0:
            await reply.result(call, {})
            return
        open_connections += 1
        await reply.client_gone()
        open_connections -= 1
        changed.set()

    heard = Heard()
    async with scripted(handler) as server, heard.over_http(server.url) as link:
        senders = [asyncio.ensure_future(link.send(modern(number))) for number in range(1, 41)]
        await server.until(lambda seen: len(seen) == 40)
        for sender in senders:
            sender.cancel()
        await asyncio.gather(*senders, return_exceptions=True)
        async with asyncio.timeout(DEADLINE):
            while open_connections:
                changed.clear()
                await changed.wait()
        await link.send(modern(0))
    assert heard.messages == [result(0, {})]
