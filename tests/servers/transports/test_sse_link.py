"""The transport of 2024-11-05: one stream in, a POST for each message out."""

from __future__ import annotations

import asyncio

import pytest

from tests.servers.remote.heard import Heard, legacy, note, result
from tests.servers.remote.scripted import DEADLINE, Call, Reply, scripted
from toolcrib.errors import AuthRequired, ConnectionLost, PeerError, RemoteUnreachable, ResultTooLarge


class SseServer:
    """Gives an address, then echoes each request as its own answer on the stream."""

    address = b"/messages?session=1"

    def __init__(self) -> None:
        self.streams: list[Reply] = []

    async def __call__(self, call: Call, reply: Reply) -> None:
        if call.method == "GET":
            await self.on_get(call, reply)
        else:
            await self.on_post(call, reply)

    async def on_get(self, call: Call, reply: Reply) -> None:
        await reply.stream()
        await reply.chunk(b"event: endpoint\ndata: " + self.address + b"\n\n")
        self.streams.append(reply)
        await reply.client_gone()

    async def on_post(self, call: Call, reply: Reply) -> None:
        await reply.send(202, b"Accepted", content_type="text/plain")
        await self.streams[-1].event(result(call.message["id"], call.message["params"]), event="message")


async def test_messages_go_to_the_given_address_and_answers_come_on_the_stream():
    heard = Heard()
    headers = {"Authorization": "Bearer x"}
    async with scripted(SseServer()) as server, heard.over_sse(server.url, headers=headers) as link:
        assert link.pid is None
        await asyncio.gather(*(link.send(legacy(number, value=number)) for number in range(10)))
        await heard.until(lambda heard: len(heard.messages) == 10)
        assert {call.target for call in server.calls} == {"/mcp", "/messages?session=1"}
        assert {call.headers["authorization"] for call in server.calls} == {"Bearer x"}
    assert sorted(message["result"]["value"] for message in heard.messages) == list(range(10))
    assert heard.losses == []


async def test_an_event_of_five_megabytes_passes():
    heard = Heard()
    async with scripted(SseServer()) as server, heard.over_sse(server.url) as link:
        await link.send(legacy(1, text="x" * 5_000_000))
        await heard.until(lambda heard: bool(heard.messages))
    assert len(heard.messages[0]["result"]["text"]) == 5_000_000


async def test_an_event_above_the_bound_ends_the_link():
    heard = Heard()
    async with scripted(SseServer()) as server, heard.over_sse(server.url, max_message_bytes=9000) as link:
        await link.send(legacy(1, text="x" * 20_000))
        await heard.until(lambda heard: bool(heard.losses))
    assert [type(loss) for loss in heard.losses] == [ResultTooLarge]


@pytest.mark.parametrize("how", ["end", "cut"])
async def test_the_end_of_the_stream_is_the_end_of_the_link(how: str):
    behaviour = SseServer()
    heard = Heard()
    async with scripted(behaviour) as server, heard.over_sse(server.url) as link:
        await behaviour.streams[0].event(note("notifications/x"))
        if how == "end":
            await behaviour.streams[0].end()
        else:
            behaviour.streams[0].cut()
        await heard.until(lambda heard: bool(heard.losses))
        with pytest.raises(ConnectionLost):
            await link.send(legacy(1))
    assert [type(loss) for loss in heard.losses] == [ConnectionLost]
    assert heard.messages == [note("notifications/x")]


async def test_a_session_the_server_has_forgotten_ends_the_link_once():
    class Forgetful(SseServer):
        async def on_post(self, call: Call, reply: Reply) -> None:
            await reply.send(404, b"Could not find session")

    heard = Heard()
    async with scripted(Forgetful()) as server, heard.over_sse(server.url) as link:
        for number in (1, 2):
            with pytest.raises(ConnectionLost):
                await link.send(legacy(number))
    assert len(heard.losses) == 1


async def test_a_refused_post_harms_no_other():
    class Picky(SseServer):
        async def on_post(self, call: Call, reply: Reply) -> None:
            number = call.message["id"]
            if number == 1:
                await reply.send(503)
            elif number == 2:
                await reply.send(413, b"too long", content_type="text/plain")
            elif number == 3:
                await reply.json({"jsonrpc": "2.0", "id": None, "error": {"code": -32600}}, status=400)
            elif number == 4:
                reply.cut()
            elif number == 5:
                await reply.send(401)
            else:
                await super().on_post(call, reply)

    heard = Heard()
    async with scripted(Picky()) as server, heard.over_sse(server.url) as link:
        with pytest.raises(RemoteUnreachable, match="503"):
            await link.send(legacy(1))
        with pytest.raises(PeerError, match="413: too long"):
            await link.send(legacy(2))
        await link.send(legacy(3))
        with pytest.raises(ConnectionLost):
            await link.send(legacy(4))
        with pytest.raises(AuthRequired):
            await link.send(legacy(5))
        await link.send(legacy(6))
        await heard.until(lambda heard: len(heard.messages) == 2)
    assert heard.messages == [{"jsonrpc": "2.0", "id": 3, "error": {"code": -32600}}, result(6, {})]
    assert heard.losses == []


async def test_an_address_at_another_origin_is_refused_and_nothing_is_sent_there():
    async with scripted(SseServer()) as other:
        behaviour = SseServer()
        behaviour.address = other.url.encode()
        async with scripted(behaviour) as server:
            with pytest.raises(RemoteUnreachable, match="another host"):
                async with Heard().over_sse(server.url, headers={"Authorization": "Bearer x"}):
                    pass
        assert other.calls == []


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (200, "application/json", PeerError),
        (404, "text/plain", PeerError),
        (405, "text/plain", PeerError),
        (401, "text/plain", AuthRequired),
        (502, "text/plain", RemoteUnreachable),
    ],
)
async def test_what_is_no_stream_is_said_at_once(status: int, kind: str, error: type[Exception]):
    async def handler(call: Call, reply: Reply) -> None:
        await reply.send(status, b"{}", content_type=kind)

    heard = Heard()
    async with scripted(handler) as server:
        with pytest.raises(error):
            async with heard.over_sse(server.url):
                pass
    assert heard.losses == []


async def test_a_stream_that_never_gives_an_address_can_be_given_up():
    gone = asyncio.Event()

    async def handler(call: Call, reply: Reply) -> None:
        await reply.stream()
        await reply.client_gone()
        gone.set()

    heard = Heard()
    async with scripted(handler) as server:
        opening = asyncio.ensure_future(heard.over_sse(server.url).__aenter__())
        await server.until(lambda seen: seen == ["GET"])
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        async with asyncio.timeout(DEADLINE):
            await gone.wait()
    assert heard.losses == []


async def test_a_stream_that_ends_before_it_gave_an_address_is_a_failed_start():
    async def handler(call: Call, reply: Reply) -> None:
        await reply.stream()
        await reply.end()

    heard = Heard()
    async with scripted(handler) as server:
        with pytest.raises(ConnectionLost):
            async with heard.over_sse(server.url):
                pass
    assert heard.losses == []


async def test_leaving_closes_the_stream_and_nothing_is_lost():
    gone = asyncio.Event()

    class Watching(SseServer):
        async def on_get(self, call: Call, reply: Reply) -> None:
            await super().on_get(call, reply)
            gone.set()

    heard = Heard()
    async with scripted(Watching()) as server:
        async with heard.over_sse(server.url) as link:
            await link.send(legacy(1))
        async with asyncio.timeout(DEADLINE):
            await gone.wait()
        with pytest.raises(ConnectionLost):
            await link.send(legacy(2))
    assert heard.losses == []


class SseOnly(SseServer):
    """As servers of 2024 are: the address of the stream takes no messages."""

    async def on_post(self, call: Call, reply: Reply) -> None:
        if call.target == "/mcp":
            await reply.send(self.status, b"Method Not Allowed", content_type="text/plain")
            return
        await super().on_post(call, reply)

    def __init__(self, status: int) -> None:
        super().__init__()
        self.status = status


@pytest.mark.parametrize("status", [400, 404, 405])
async def test_a_server_of_type_http_that_speaks_sse_alone_is_spoken_to_over_sse(status: int):
    heard = Heard()
    async with scripted(SseOnly(status)) as server, heard.over_http(server.url) as link:
        await link.send(legacy(1, "initialize", value=1))
        await link.send(legacy(2, value=2))
        await heard.until(lambda heard: len(heard.messages) == 2)
    assert [message["result"]["value"] for message in heard.messages] == [1, 2]
    assert heard.losses == []


async def test_a_refusal_without_an_event_stream_is_told_as_it_was():
    async def handler(call: Call, reply: Reply) -> None:
        await reply.send(404, b"nothing here", content_type="text/plain")

    async with scripted(handler) as server, Heard().over_http(server.url) as link:
        with pytest.raises(PeerError, match="HTTP 404"):
            await link.send(legacy(1, "initialize"))
