"""Requests as they come over a socket: split, glued together, in chunks, half, or in ways that could be read
twice; each is answered once, in order and in one packet, or turned away."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager

import pytest

from tests.gateway.speaking import DEADLINE, META, connection, eventually, said
from toolcrib.gateway.http import connection as connections
from toolcrib.gateway.http.connection import ConnectionTimer

HOST = b"Host: 127.0.0.1\r\n"
ERA = b"Content-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n"
LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}).encode()
NOTHING = b"GET /nothing HTTP/1.1\r\n" + HOST + b"\r\n"


def post(body: bytes, *headers: bytes, path: bytes = b"/mcp", line: bytes = b"HTTP/1.1") -> bytes:
    head = [b"POST %b %b" % (path, line), b"Host: 127.0.0.1", ERA.strip(), *headers]
    return b"\r\n".join([*head, b"Content-Length: %d" % len(body), b"", body])


def numbered(number: int) -> bytes:
    return post(LIST.replace(b'"id": 1', b'"id": %d' % number))


async def answer(reader: asyncio.StreamReader) -> tuple[int, dict[bytes, bytes], bytes]:
    """Status, headers and body of the next answer."""
    async with asyncio.timeout(DEADLINE):
        head = await reader.readuntil(b"\r\n\r\n")
        line, *lines = head.strip().split(b"\r\n")
        headers = dict(one.split(b": ", 1) for one in lines)
        body = await reader.readexactly(int(headers.get(b"content-length", 0)))
    return int(line.split()[1]), headers, body


@pytest.fixture
def talking(serve):
    @asynccontextmanager
    async def talking(**options):
        async with serve(**options) as (_, url), connection(url) as (reader, writer):
            yield reader, writer

    return talking


async def test_an_answer_is_one_packet(serve):
    packets = []

    class Listener(asyncio.Protocol):
        def data_received(self, data: bytes) -> None:
            packets.append(data)
            heard.set()

    heard = asyncio.Event()
    async with serve() as (_, url):
        port = int(url.split(":")[2].split("/")[0])
        transport, _ = await asyncio.get_running_loop().create_connection(Listener, "127.0.0.1", port)
        for count in range(1, 4):
            heard.clear()
            transport.write(post(LIST))
            async with asyncio.timeout(DEADLINE):
                await heard.wait()
            assert len(packets) == count
            assert json.loads(packets[-1].split(b"\r\n\r\n")[1])["id"] == 1
        transport.close()


async def test_a_request_may_come_byte_by_byte(talking):
    async with talking() as (reader, writer):
        for byte in post(LIST):
            writer.write(bytes([byte]))
            await writer.drain()
        status, _, body = await answer(reader)
        assert (status, json.loads(body)["id"]) == (200, 1)


async def test_requests_that_were_sent_ahead_are_answered_in_order(talking):
    async with talking() as (reader, writer):
        writer.write(b"".join(numbered(number) for number in range(5)) + NOTHING + numbered(5)[:-10])
        numbers = [json.loads((await answer(reader))[2])["id"] for _ in range(5)]
        assert numbers == [0, 1, 2, 3, 4]
        assert (await answer(reader))[0] == 404
        writer.write(numbered(5)[-10:])
        assert json.loads((await answer(reader))[2])["id"] == 5


async def test_too_many_sent_ahead_are_not_endured(talking):
    async with talking() as (reader, writer):
        writer.write(b"".join(numbered(number) for number in range(connections.MAX_WAITING + 20)))
        answers = await said(reader)
        assert answers.count(b"HTTP/1.1 ") <= connections.MAX_WAITING + 20


async def test_for_a_client_that_reads_nothing_no_more_answers_are_made(serve, crib):
    crib.server("big")
    params = {"name": "big__blob", "arguments": {"bytes": 3_000_000}, "_meta": META}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    call = post(body, b"Mcp-Name: big__blob").replace(b"Method: tools/list", b"Method: tools/call")
    async with serve() as (host, url):
        await host.ready()
        async with connection(url) as (reader, writer):
            writer.write(call * 12)
            await eventually(lambda: host.toolset.caller.counts.of("big").total)
            for _ in range(12):  # as many again: nothing but the client keeps the first ones waiting
                await host.call("big__blob", params["arguments"])
            assert host.toolset.caller.counts.of("big").total < 24
            for _ in range(12):
                assert len((await answer(reader))[2]) > 3_000_000


async def test_what_is_sent_behind_a_request_and_is_no_http_does_not_keep_it_from_its_answer(talking):
    async with talking() as (reader, writer):
        writer.write(post(LIST) + b"rubbish\r\n\r\n")
        assert (await answer(reader))[0] == 200
        assert await said(reader) == b""


@pytest.mark.parametrize(
    "framing",
    [
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
        b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd",
        b"Content-Length: +4\r\n\r\nabcd",
        b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        b"X-Folded: a\r\n b\r\nContent-Length: 0\r\n\r\n",
        b"X-Bare: a\nContent-Length: 0\r\n\r\n",
    ],
)
async def test_what_could_be_read_in_two_ways_is_refused(talking, framing):
    async with talking() as (reader, writer):
        writer.write(b"POST /mcp HTTP/1.1\r\n" + HOST + framing + NOTHING)
        answers = await said(reader)
        assert answers.startswith(b"HTTP/1.1 400 ")
        assert answers.count(b"HTTP/1.1 ") == 1


async def test_a_body_may_come_in_chunks_and_what_trails_it_means_nothing(talking):
    head = b"POST /mcp HTTP/1.1\r\n" + HOST + ERA + b"Transfer-Encoding: chunked\r\n\r\n"
    half = len(LIST) // 2
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (LIST[:half], LIST[half:]))
    async with talking() as (reader, writer):
        writer.write(head + chunks + b"0\r\nHost: evil.example\r\nAuthorization: Bearer x\r\n\r\n" + NOTHING)
        assert (await answer(reader))[0] == 200
        assert (await answer(reader))[0] == 404


async def test_what_trails_a_body_has_an_end_too(talking):
    head = b"POST /mcp HTTP/1.1\r\n" + HOST + ERA + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX-Endless: "
    async with talking() as (reader, writer):
        refused = asyncio.create_task(said(reader))
        writer.write(head)
        while not refused.done() and not writer.is_closing():
            writer.write(b"x" * 8000)
            await asyncio.wait({refused}, timeout=0.001)
        assert not await refused or refused.result().startswith(b"HTTP/1.1 431 ")


async def test_a_client_that_asks_whether_to_send_its_body_is_told(talking):
    whole = post(LIST, b"Expect: 100-continue")
    async with talking() as (reader, writer):
        writer.write(whole[: -len(LIST)])
        async with asyncio.timeout(DEADLINE):
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(LIST)
        assert (await answer(reader))[0] == 200


async def test_a_client_that_is_refused_is_not_asked_for_its_body(talking):
    whole = post(LIST, b"Expect: 100-continue", path=b"/nowhere")
    async with talking() as (reader, writer):
        writer.write(whole[: -len(LIST)])
        assert (await answer(reader))[0] == 404
        writer.write(LIST + NOTHING)
        assert (await answer(reader))[0] == 404


async def test_the_answer_to_head_has_no_body(talking):
    async with talking() as (reader, writer):
        writer.write(b"HEAD /nothing HTTP/1.1\r\n" + HOST + b"\r\n")
        async with asyncio.timeout(DEADLINE):
            head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 404 ")
        writer.write(NOTHING)
        assert (await answer(reader))[0] == 404


@pytest.mark.parametrize("request_", [post(LIST, b"Connection: close"), post(LIST, line=b"HTTP/1.0")])
async def test_a_connection_ends_with_the_answer_where_the_client_wants_it(talking, request_):
    async with talking() as (reader, writer):
        writer.write(request_)
        status, headers, body = await answer(reader)
        assert (status, headers[b"connection"], json.loads(body)["id"]) == (200, b"close", 1)
        assert await said(reader) == b""


async def test_another_protocol_is_not_spoken(talking):
    upgrade = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
    async with talking() as (reader, writer):
        writer.write(b"GET /nothing HTTP/1.1\r\n" + HOST + upgrade + b"\r\n" + NOTHING)
        status, headers, _ = await answer(reader)
        assert (status, headers[b"connection"]) == (404, b"close")
        assert await said(reader) == b""


async def test_a_whole_address_is_as_good_as_a_path(talking):
    async with talking() as (reader, writer):
        writer.write(post(LIST, path=b"http://127.0.0.1/mcp?with=question"))
        assert (await answer(reader))[0] == 200


async def test_a_connection_that_nothing_is_asked_on_is_closed(talking, monkeypatch):
    monkeypatch.setattr(connections, "IDLE", 0.2)
    async with talking() as (reader, writer):
        writer.write(post(LIST))
        assert (await answer(reader))[0] == 200
        assert await said(reader) == b""


async def test_no_answer_is_made_for_a_client_that_hung_up(serve, crib):
    crib.server("slow")
    params = {"name": "slow__sleep", "arguments": {"seconds": 300}, "_meta": META}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    call = post(body, b"Mcp-Name: slow__sleep").replace(b"Method: tools/list", b"Method: tools/call")
    async with serve() as (host, url):
        await host.ready()
        async with connection(url) as (_, writer):
            writer.write(call)
            await writer.drain()
            await eventually(lambda: host.toolset.caller.counts.of("slow").in_flight)
        await eventually(lambda: not host.toolset.caller.counts.of("slow").in_flight)
        assert (await host.audit.query(1))[0].outcome == "cancelled"


async def test_a_deadline_runs_once_at_the_time_it_was_last_set_to():
    loop = asyncio.get_running_loop()
    ran: asyncio.Queue[tuple[str, float]] = asyncio.Queue()
    deadline = ConnectionTimer(loop)
    began = loop.time()
    deadline.set(30, lambda: ran.put_nowait(("late", loop.time())))
    deadline.set(0.05, lambda: ran.put_nowait(("early", loop.time())))
    deadline.set(0.2, lambda: ran.put_nowait(("right", loop.time())))
    async with asyncio.timeout(DEADLINE):
        name, when = await ran.get()
    assert (name, when - began >= 0.19) == ("right", True)
    deadline.set(0.01, lambda: ran.put_nowait(("cleared", 0)))
    deadline.action = None
    deadline.set(0.02, lambda: ran.put_nowait(("closed", 0)))
    deadline.close()
    loop.call_later(0.1, ran.put_nowait, ("after all of them", 0.0))
    async with asyncio.timeout(DEADLINE):
        assert (await ran.get())[0] == "after all of them"
