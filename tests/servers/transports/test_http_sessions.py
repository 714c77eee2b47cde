"""The legacy era over streamable HTTP: its session, its listening stream, and streams that are resumed."""

from __future__ import annotations

import asyncio

import pytest

from tests.servers.remote.heard import Heard, legacy, modern, note, result
from tests.servers.remote.scripted import DEADLINE, Call, Reply, scripted
from toolcrib.errors import ConnectionLost, ServerUnavailable
from toolcrib.servers.remote.http_link import Reconnect
from toolcrib.servers.transport import Link

INITIALIZED = note("notifications/initialized")


class LegacyServer:
    """Answers a handshake with a session id; tests replace what happens to calls and to the GET stream."""

    def __init__(self) -> None:
        self.known = True

    async def __call__(self, call: Call, reply: Reply) -> None:
        if call.method == "POST":
            await self.on_post(call, reply)
        elif call.method == "GET":
            await self.on_get(call, reply)
        else:
            await reply.send(200)

    async def on_post(self, call: Call, reply: Reply) -> None:
        method = call.message.get("method")
        if method == "initialize":
            await reply.result(call, {"protocolVersion": "2025-06-18"}, mcp_session_id="abc")
        elif not self.known:
            await reply.json({"jsonrpc": "2.0", "id": None, "error": {"code": -32001}}, status=404)
        elif "id" in call.message and method:
            await self.on_request(call, reply)
        else:
            await reply.send(202)

    async def on_request(self, call: Call, reply: Reply) -> None:
        await reply.result(call, {})

    async def on_get(self, call: Call, reply: Reply) -> None:
        await reply.send(405)


async def shake_hands(link: Link) -> None:
    await link.send(legacy(0, "initialize", protocolVersion="2025-11-25"))
    await link.send(INITIALIZED)


async def test_the_session_id_and_the_agreed_version_go_with_everything_after_the_handshake():
    heard = Heard()
    async with scripted(LegacyServer()) as server:
        async with heard.over_http(server.url) as link:
            await shake_hands(link)
            await link.send(legacy(1))
            await link.send({"jsonrpc": "2.0", "id": "s1", "result": {}})
            await link.send(note("notifications/cancelled", requestId=1))
            await server.until(lambda seen: "GET" in seen)
        first, *others = server.calls
        assert not {"mcp-session-id", "mcp-protocol-version", "mcp-method"} & set(first.headers)
        for call in others:
            assert call.headers["mcp-session-id"] == "abc"
            assert call.headers["mcp-protocol-version"] == "2025-06-18"
            assert "mcp-method" not in call.headers
        assert set(server.seen) == {
            "initialize",
            "notifications/initialized",
            "GET",
            "tools/call",
            "reply",
            "notifications/cancelled",
            "DELETE",
        }


async def test_a_probe_of_the_other_era_leaves_no_trace_on_the_handshake():
    heard = Heard()
    async with scripted(LegacyServer()) as server, heard.over_http(server.url) as link:
        await link.send(modern(9, "server/discover"))
        await shake_hands(link)
        assert server.calls[0].headers["mcp-method"] == "server/discover"
        assert "mcp-protocol-version" not in server.calls[1].headers


async def test_leaving_ends_the_session_even_when_the_server_does_not_answer():
    class Deaf(LegacyServer):
        async def __call__(self, call: Call, reply: Reply) -> None:
            if call.method == "DELETE":
                await reply.client_gone()
            else:
                await super().__call__(call, reply)

    async with asyncio.timeout(DEADLINE), scripted(Deaf()) as server:
        async with Heard().over_http(server.url) as link:
            await shake_hands(link)
        assert server.seen[-1] == "DELETE"


async def test_a_forgotten_session_is_lost_once_however_many_calls_notice():
    behaviour = LegacyServer()
    heard = Heard()
    async with scripted(behaviour) as server:
        async with heard.over_http(server.url) as link:
            await shake_hands(link)
            behaviour.known = False
            outcomes = await asyncio.gather(
                *(link.send(legacy(number)) for number in range(1, 6)), return_exceptions=True
            )
            posted = len(server.calls)
            with pytest.raises(ConnectionLost, match="ended the session"):
                await link.send(legacy(7))
            assert len(server.calls) == posted
        assert "DELETE" not in server.seen
    assert all(isinstance(outcome, ConnectionLost) for outcome in outcomes)
    assert [type(loss) for loss in heard.losses] == [ConnectionLost]
    assert [message["id"] for message in heard.messages] == [0]


async def test_servers_that_say_400_for_a_forgotten_session_are_understood():
    class Express(LegacyServer):
        async def on_request(self, call: Call, reply: Reply) -> None:
            error = {"code": -32000, "message": "Bad Request: No valid session ID provided"}
            await reply.json({"jsonrpc": "2.0", "id": None, "error": error}, status=400)

    heard = Heard()
    async with scripted(Express()) as server, heard.over_http(server.url) as link:
        await shake_hands(link)
        with pytest.raises(ConnectionLost, match="ended the session"):
            await link.send(legacy(1))
    assert len(heard.losses) == 1


async def test_a_404_that_answers_our_request_by_its_id_ends_no_session():
    class Newer(LegacyServer):
        async def on_request(self, call: Call, reply: Reply) -> None:
            error = {"code": -32601, "message": "Method not found"}
            await reply.json({"jsonrpc": "2.0", "id": call.message["id"], "error": error}, status=404)

    heard = Heard()
    async with scripted(Newer()) as server, heard.over_http(server.url) as link:
        await shake_hands(link)
        await link.send(legacy(1))
    assert heard.messages[-1]["error"]["code"] == -32601
    assert heard.losses == []


# The listening stream


async def test_what_a_server_says_unasked_is_heard():
    class Talkative(LegacyServer):
        async def on_get(self, call: Call, reply: Reply) -> None:
            await reply.stream()
            await reply.event(note("notifications/tools/list_changed"))
            await reply.event({"jsonrpc": "2.0", "id": "s1", "method": "roots/list"})
            await reply.client_gone()

    heard = Heard()
    async with scripted(Talkative()) as server, heard.over_http(server.url) as link:
        await shake_hands(link)
        await heard.until(lambda heard: len(heard.messages) == 3)
    assert [message.get("method") for message in heard.messages] == [
        None,
        "notifications/tools/list_changed",
        "roots/list",
    ]


async def test_a_listening_stream_that_ends_is_opened_again_where_it_stopped():
    resumed: asyncio.Queue[str | None] = asyncio.Queue()

    class Impatient(LegacyServer):
        async def on_get(self, call: Call, reply: Reply) -> None:
            number = resumed.qsize()
            await resumed.put(call.headers.get("last-event-id"))
            await reply.stream()
            if number < 3:
                await reply.event(note("notifications/x", number=number), id=f"e{number}", retry=1)
                await reply.end()
            else:
                await reply.client_gone()

    heard = Heard()
    async with scripted(Impatient()) as server, heard.over_http(server.url) as link:
        await shake_hands(link)
        await server.until(lambda seen: seen.count("GET") == 4)
    assert [resumed.get_nowait() for _ in range(4)] == [None, "e0", "e1", "e2"]
    assert [message["params"]["number"] for message in heard.messages[1:]] == [0, 1, 2]
    assert heard.losses == []


async def test_a_listening_stream_notices_that_the_session_is_gone():
    class Restarted(LegacyServer):
        async def on_get(self, call: Call, reply: Reply) -> None:
            await reply.send(404)

    heard = Heard()
    async with scripted(Restarted()) as server, heard.over_http(server.url) as link:
        await shake_hands(link)
        await heard.until(lambda heard: bool(heard.losses))
    assert len(heard.losses) == 1


@pytest.mark.parametrize("status", [405, 400, 401])
async def test_a_server_without_a_listening_stream_is_asked_once(status: int):
    class Silent(LegacyServer):
        async def on_get(self, call: Call, reply: Reply) -> None:
            await reply.send(status)

    heard = Heard()
    async with scripted(Silent()) as server, heard.over_http(server.url) as link:
        await shake_hands(link)
        await server.until(lambda seen: "GET" in seen)
        for number in range(1, 20):
            await link.send(legacy(number))
        assert server.seen.count("GET") == 1
    assert heard.losses == []


def test_the_pauses_before_reconnecting_grow_to_a_bound_and_start_over_after_success():
    pauses = Reconnect(first=1.0, longest=8.0)
    assert [pauses.next_delay() for _ in range(6)] == [1, 2, 4, 8, 8, 8]
    pauses.fruitful()
    assert pauses.next_delay() == 1


def test_a_pause_the_server_asked_for_is_never_cut_short_nor_a_hot_loop():
    assert Reconnect(first=1.0, longest=8.0).next_delay(asked=20.0) == 20.0
    pauses = Reconnect()
    assert sum(pauses.next_delay(asked=0.0) for _ in range(20)) > 60


# Answers over several streams


async def test_an_answer_that_was_cut_off_is_asked_for_again_by_its_last_event():
    class Polling(LegacyServer):
        async def on_request(self, call: Call, reply: Reply) -> None:
            await reply.stream()
            await reply.event(None, id="p1", retry=20)
            await reply.end()

        async def on_get(self, call: Call, reply: Reply) -> None:
            last = call.headers.get("last-event-id")
            if last is None:
                await reply.send(405)
                return
            await reply.stream()
            if last == "p1":
                await reply.event(note("notifications/progress", progress=1), id="p2")
                reply.cut()
            else:
                await reply.event(result(1, {"done": last}), id="p3")
                await reply.end()

    heard = Heard()
    async with scripted(Polling()) as server, heard.over_http(server.url) as link:
        await shake_hands(link)
        await link.send(legacy(1))
    assert heard.messages[1:] == [note("notifications/progress", progress=1), result(1, {"done": "p2"})]


@pytest.mark.parametrize("refusal", ["cut", "empty", "503", "405"])
async def test_an_answer_that_never_comes_back_is_given_up(refusal: str):
    class Hopeless(LegacyServer):
        async def on_request(self, call: Call, reply: Reply) -> None:
            await reply.stream()
            await reply.event(None, id="p1", retry=1)
            reply.cut()

        async def on_get(self, call: Call, reply: Reply) -> None:
            if "last-event-id" not in call.headers or refusal == "405":
                await reply.send(405)
            elif refusal == "503":
                await reply.send(503)
            elif refusal == "cut":
                reply.cut()
            else:
                await reply.stream()
                await reply.end()

    heard = Heard()
    async with scripted(Hopeless()) as server, heard.over_http(server.url) as link:
        await shake_hands(link)
        with pytest.raises(ServerUnavailable):
            await link.send(legacy(1))
        resumes = [call for call in server.calls if "last-event-id" in call.headers]
        assert len(resumes) == (1 if refusal == "405" else 3)
    assert heard.losses == []


async def test_a_session_that_ended_while_an_answer_was_on_its_way_is_lost():
    class Restarting(LegacyServer):
        async def on_request(self, call: Call, reply: Reply) -> None:
            await reply.stream()
            await reply.event(None, id="p1", retry=1)
            reply.cut()

        async def on_get(self, call: Call, reply: Reply) -> None:
            await reply.send(404 if "last-event-id" in call.headers else 405)

    heard = Heard()
    async with scripted(Restarting()) as server, heard.over_http(server.url) as link:
        await shake_hands(link)
        with pytest.raises(ConnectionLost, match="ended the session"):
            await link.send(legacy(1))
    assert len(heard.losses) == 1


async def test_an_answer_on_another_requests_stream_reaches_its_own_caller():
    both = asyncio.Event()
    waiting: set[int] = set()

    class Crossed(LegacyServer):
        async def on_request(self, call: Call, reply: Reply) -> None:
            waiting.add(call.message["id"])
            if len(waiting) == 2:
                both.set()
            await both.wait()
            await reply.stream()
            if call.message["id"] == 2:
                await reply.client_gone()
            await reply.event(result(2, {"for": 2}))
            await reply.event(result(2, {"for": "nobody any more"}))
            await reply.event(result(1, {"for": 1}))
            await reply.end()

    heard = Heard()
    async with asyncio.timeout(DEADLINE), scripted(Crossed()) as server, heard.over_http(server.url) as link:
        await shake_hands(link)
        await asyncio.gather(link.send(legacy(1)), link.send(legacy(2)))
    assert heard.messages[1:] == [
        result(2, {"for": 2}),
        result(2, {"for": "nobody any more"}),
        result(1, {"for": 1}),
    ]


async def test_an_answer_on_the_listening_stream_reaches_its_caller():
    listening: asyncio.Queue[Reply] = asyncio.Queue()

    class Elsewhere(LegacyServer):
        async def on_get(self, call: Call, reply: Reply) -> None:
            await reply.stream()
            await listening.put(reply)
            await reply.client_gone()

        async def on_request(self, call: Call, reply: Reply) -> None:
            stream = await listening.get()
            await reply.stream()
            await stream.event(result(call.message["id"], {}))
            await reply.client_gone()

    heard = Heard()
    async with (
        asyncio.timeout(DEADLINE),
        scripted(Elsewhere()) as server,
        heard.over_http(server.url) as link,
    ):
        await shake_hands(link)
        await link.send(legacy(1))
    assert heard.messages[1:] == [result(1, {})]


async def test_a_server_that_keeps_its_listening_stream_waiting_holds_up_no_handshake():
    class Slow(LegacyServer):
        async def on_get(self, call: Call, reply: Reply) -> None:
            await reply.client_gone()

    heard = Heard()
    async with asyncio.timeout(DEADLINE), scripted(Slow()) as server, heard.over_http(server.url) as link:
        await shake_hands(link)
        await link.send(legacy(1))
    assert [message["id"] for message in heard.messages] == [0, 1]
