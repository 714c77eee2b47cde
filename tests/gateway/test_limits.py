"""Too much is refused, not endured: each bound, seen from a client and from a plain socket."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import AsyncExitStack

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from tests.gateway.speaking import ACCEPT, DEADLINE, META, Speaker, connection, eventually, said, until_called
from tests.loop_clock import LoopClock, settle
from toolcrib.gateway.http import server as http_server
from toolcrib.gateway.http.server import serve_http

HEAD = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


@pytest.fixture
async def client():
    async with httpx2.AsyncClient(trust_env=False, headers=ACCEPT, timeout=DEADLINE) as client:
        yield client


@pytest.fixture
def limited(crib):
    """The gateway with these limits; gives its address and what it has taken on."""

    class Limited:
        def __init__(self, **limits):
            crib.setting(gateway=limits)

        async def __aenter__(self):
            self.opened = crib.open()
            self.host = await self.opened.__aenter__()
            await self.host.ready()
            self.serving = serve_http(self.host)
            base, endpoints = await self.serving.__aenter__()
            return f"{base}/mcp", endpoints.load

        async def __aexit__(self, *error):
            await self.serving.__aexit__(*error)
            await self.opened.__aexit__(*error)

    return Limited


async def test_a_client_is_refused_while_as_many_as_allowed_are_connected(limited, client):
    async with limited(maxSessions=2) as (url, load):
        first, second, third = (Speaker(client, url) for _ in range(3))
        await first.open()
        await second.open()
        async with first.stream(), second.stream():
            refused = await third.open()
        assert refused.status_code == 503
        assert int(refused.headers["retry-after"]) > 0
        error = refused.json()["error"]
        assert (error["code"], error["data"]["retryAfterMs"] > 0) == (-32000, True)
        assert load.clients == 2


async def test_the_longest_idle_session_makes_room_for_a_new_client(limited, client):
    async with limited(maxSessions=3) as (url, load):
        listening, idle, used, new = (Speaker(client, url) for _ in range(4))
        for speaker in (listening, idle, used):
            await speaker.open()
        async with listening.stream():
            assert (await used.legacy("tools/list")).status_code == 200
            assert (await new.open()).status_code == 200
            assert load.clients == 3
            answers = [(await one.legacy("tools/list")).status_code for one in (listening, idle, used, new)]
        assert answers == [200, 404, 200, 200]


async def test_a_flood_of_sessions_in_one_view_leaves_the_clients_of_another_alone(limited, client, crib):
    crib.setting(profiles={"quiet": {}})
    async with limited(maxSessions=20) as (url, load):
        quiet = Speaker(client, f"{url}/quiet")
        assert (await quiet.open()).status_code == 200
        answers = [await Speaker(client, url).open() for _ in range(100)]
        assert {answer.status_code for answer in answers} == {200}
        assert load.clients == 16
        assert (await quiet.legacy("tools/list")).status_code == 200
        assert (await Speaker(client, f"{url}/quiet").open()).status_code == 200


async def test_connected_clients_of_one_view_leave_room_for_another(limited, client, crib):
    crib.setting(profiles={"quiet": {}})
    async with limited(maxSessions=4) as (url, _), AsyncExitStack() as open_streams:
        answers = []
        for _ in range(4):
            speaker = Speaker(client, url)
            answers.append((await speaker.open()).status_code)
            if answers[-1] == 200:
                await open_streams.enter_async_context(speaker.stream())
        assert answers == [200, 200, 200, 503]
        assert (await Speaker(client, f"{url}/quiet").open()).status_code == 200


async def test_streams_of_one_view_leave_room_for_another(limited, client, crib):
    crib.setting(profiles={"quiet": {}})
    async with (
        limited(maxSessions=2) as (url, load),
        Client(streamable_http_client(url)) as listener,
        listener.listen(tools_list_changed=True),
    ):
        assert load.clients == 1
        assert (await Speaker(client, url).open()).status_code == 503
        assert (await Speaker(client, f"{url}/quiet").open()).status_code == 200


async def test_streams_that_listen_count_as_clients(limited, client):
    async with limited(maxSessions=1) as (url, load):
        async with Client(streamable_http_client(url)) as listener:
            async with listener.listen(tools_list_changed=True):
                assert load.clients == 1
                assert (await Speaker(client, url).open()).status_code == 503
                answer = await Speaker(client, url).modern("subscriptions/listen", notifications={})
                assert answer.status_code == 503
                assert (await Speaker(client, url).modern("tools/list")).status_code == 200
            await eventually(lambda: load.clients == 0)
        assert (await Speaker(client, url).open()).status_code == 200


async def test_too_many_calls_at_once_are_refused_and_the_others_finish(limited, crib, client):
    crib.server("slow")
    async with limited(maxCalls=2) as (url, load):
        speaker = Speaker(client, url)
        await speaker.modern("tools/list")
        calls = [
            asyncio.create_task(speaker.modern("tools/call", name="slow__sleep", arguments={"seconds": 6}))
            for _ in range(2)
        ]
        await eventually(lambda: load.calls == 2)
        refused = await speaker.modern("tools/call", name="slow__echo", arguments={"text": "x"})
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert (refused.json()["id"], refused.json()["error"]["code"]) == (1, -32000)
        for call in calls:
            assert (await call).json()["result"]["content"][0]["text"] == "slept"
        assert load.calls == 0
        again = await speaker.modern("tools/call", name="slow__echo", arguments={"text": "x"})
        assert again.status_code == 200


async def test_the_official_client_reads_the_refusal(limited, crib, client):
    crib.server("slow")
    async with limited(maxCalls=1) as (url, load):
        speaker = Speaker(client, url)
        async with Client(streamable_http_client(url), mode="legacy") as official:
            await official.list_tools()
            call = asyncio.create_task(
                speaker.modern("tools/call", name="slow__sleep", arguments={"seconds": 300})
            )
            await eventually(lambda: load.calls == 1)
            with pytest.raises(MCPError, match="try again shortly"):
                await official.call_tool("slow__echo", {"text": "x"})
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            await eventually(lambda: load.calls == 0)
            assert (await official.call_tool("slow__echo", {"text": "fine"})).content[0].text == "fine"


async def test_one_session_cannot_take_everything(limited, crib, client):
    crib.server("slow")
    async with limited(maxCallsPerSession=1) as (url, load):
        greedy, modest = Speaker(client, url), Speaker(client, url)
        await greedy.open()
        await modest.open()
        await greedy.legacy("tools/list")
        sleep = {"name": "slow__sleep", "arguments": {"seconds": 300}}
        call = asyncio.create_task(greedy.legacy("tools/call", 7, **sleep))
        await eventually(lambda: load.calls == 1)
        refused = await greedy.legacy("tools/list", 8)
        assert (refused.status_code, refused.json()["id"]) == (429, 8)
        assert (await modest.legacy("tools/list", 8)).status_code == 200
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
        told = await client.post(url, json=cancelled, headers=greedy.session)
        assert told.status_code == 202
        await call
        assert (await greedy.legacy("tools/list", 9)).status_code == 200


@pytest.mark.parametrize(
    "length", [b"Content-Length: 999999999\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n"]
)
async def test_too_large_a_body_is_refused_before_it_is_read(limited, length):
    async with limited(maxBodyBytes=1024) as (url, _), connection(url) as (reader, writer):
        writer.write(HEAD + length)
        if b"chunked" in length:
            writer.write(b"800\r\n" + b"x" * 2048 + b"\r\n")
        assert (await said(reader)).startswith(b"HTTP/1.1 413 ")


async def test_a_client_that_sends_all_of_too_large_a_body_sees_the_refusal(limited):
    async with limited(maxBodyBytes=1024) as (url, _), connection(url) as (reader, writer):
        writer.write(HEAD + b"Content-Length: 30000000\r\n\r\n")
        for _ in range(30):
            writer.write(b"x" * 1_000_000)
            await writer.drain()
        assert (await said(reader)).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    "slowly",
    [
        b"",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
        b"\r\n\r\n",
        HEAD + b"Content-Length: 100\r\n\r\n{",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
    ],
)
async def test_a_request_that_does_not_arrive_is_not_waited_for(limited, slowly, clock: LoopClock):
    async with limited(requestTimeout=30) as (url, _), connection(url) as (reader, writer):
        writer.write(slowly)
        await settle()
        await clock.passes(30)
        answer = await said(reader)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"connection: close" in answer


async def test_a_client_that_trickles_is_turned_away_as_well(limited, clock: LoopClock):
    async with limited(requestTimeout=30) as (url, load), connection(url) as (reader, writer):
        answer = asyncio.create_task(said(reader))
        writer.write(HEAD)
        while not answer.done():
            writer.write(b"X-More: 1\r\n")
            await clock.passes(5)
        assert not answer.result() or answer.result().startswith(b"HTTP/1.1 408 ")
        assert load.calls == 0


async def test_the_second_request_of_a_connection_has_a_deadline_too(limited, clock: LoopClock):
    whole = b"GET /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    async with limited(requestTimeout=30) as (url, _), connection(url) as (reader, writer):
        writer.write(whole)
        async with asyncio.timeout(DEADLINE):
            await reader.readuntil(b"PROFILE.")
        writer.write(whole[:20])
        await settle()
        await clock.passes(30)
        assert (await said(reader)).startswith(b"HTTP/1.1 408 ")


async def test_a_slow_call_is_no_slow_request(limited, crib, client, clock: LoopClock):
    crib.server("slow")
    async with limited(requestTimeout=20) as (url, load):
        call = Speaker(client, url).modern("tools/call", name="slow__sleep", arguments={"seconds": 0.5})
        answer = await clock.outlasts(call, 20, begun=eventually(lambda: load.calls))
        assert answer.json()["result"]["content"][0]["text"] == "slept"


async def test_headers_without_end_are_refused(limited):
    async with limited() as (url, _), connection(url) as (reader, writer):
        answer = asyncio.create_task(said(reader))
        writer.write(HEAD)
        while not answer.done() and not writer.is_closing():
            writer.write(b"X-More: " + b"x" * 8000 + b"\r\n")
            await asyncio.wait({answer}, timeout=0.001)
        assert not await answer or answer.result().startswith(b"HTTP/1.1 431 ")


async def test_too_many_connections_are_refused(limited, client):
    async with limited(maxConnections=2) as (url, _):
        async with connection(url), connection(url), connection(url) as (reader, _):
            assert (await said(reader)).startswith(b"HTTP/1.1 503 ")
        await eventually_answers(client, url.replace("/mcp", "/healthz"))


async def test_a_client_that_does_not_read_its_answer_is_let_go(limited, crib, client):
    crib.server("big")
    params = {"name": "big__blob", "arguments": {"bytes": 30_000_000}, "_meta": META}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    era = b"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: big__blob\r\n"
    async with limited(maxConnections=1, requestTimeout=1) as (url, _), connection(url) as (_, writer):
        writer.write(HEAD + era + b"Content-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body)
        await writer.drain()
        await eventually_answers(client, url.replace("/mcp", "/healthz"))


async def eventually_answers(client: httpx2.AsyncClient, url: str) -> None:
    """The connections that were closed are noticed soon."""
    async with asyncio.timeout(DEADLINE):
        while (await client.get(url)).status_code != 200:
            pass


async def test_an_idle_session_is_forgotten_and_one_that_listens_is_not(limited, client):
    async with limited(sessionIdle=0.2) as (url, load):
        idle, listening = Speaker(client, url), Speaker(client, url)
        await listening.open()
        async with listening.stream():
            await idle.open()
            await eventually(lambda: load.clients == 1)
            assert (await idle.legacy("tools/list")).status_code == 404
            assert (await listening.legacy("tools/list")).status_code == 200


async def test_limits_can_be_changed_while_it_runs(limited, crib, client):
    async with limited(maxSessions=1) as (url, load):
        first = Speaker(client, url)
        await first.open()
        async with first.stream():
            assert (await Speaker(client, url).open()).status_code == 503
            crib.setting(gateway={"maxSessions": 5})
            await eventually(lambda: load.limits.max_sessions == 5)
            assert (await Speaker(client, url).open()).status_code == 200


@pytest.mark.parametrize(
    ("request_line", "headers", "status"),
    [
        (b"GET @evil HTTP/1.1", b"Host: 127.0.0.1\r\n", b"400"),
        (b"GET /mcp HTTP/1.1", b"", b"421"),
        (b"GET /mcp HTTP/1.1", b"Host: 127.0.0.1\r\nHost: evil.example\r\n", b"400"),
        (
            b"GET /mcp HTTP/1.1",
            b"Host: evil.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n",
            b"421",
        ),
        (b"GET /healthz HTTP/1.1", b"Host: evil.example\r\n", b"421"),
        (b"GET /mcp HTTP/1.1", b"Host: 127.0.0.1\r\nOrigin: http://[\r\n", b"403"),
        (b"GET /mcp/../healthz HTTP/1.1", b"Host: 127.0.0.1\r\n", b"404"),
        (b"GET /mcp HTTP/1.1", b"Host: 127.0.0.1\r\nMcp-Session-Id: made-up\r\n", b"404"),
    ],
)
async def test_what_no_client_would_send_is_turned_away(limited, request_line, headers, status):
    async with limited() as (url, _), connection(url) as (reader, writer):
        writer.write(request_line + b"\r\n" + headers + b"\r\n")
        async with asyncio.timeout(DEADLINE):
            line = await reader.readline()
        assert line.split()[1] == status


async def test_the_end_lets_calls_finish_and_refuses_new_ones(crib, client, monkeypatch):
    monkeypatch.setattr(http_server, "GRACE", DEADLINE)
    crib.server("slow")
    async with crib.open() as host:
        await host.ready()
        async with serve_http(host) as (base, endpoints):
            speaker = Speaker(client, f"{base}/mcp")
            await speaker.modern("tools/list")
            call = asyncio.create_task(
                speaker.modern("tools/call", name="slow__sleep", arguments={"seconds": 1})
            )
            await eventually(lambda: endpoints.load.calls == 1)
        answer = await call
        assert answer.json()["result"]["content"][0]["text"] == "slept"


async def test_the_process_ends_in_bounded_time_and_answers_what_it_cuts_short(crib, client):
    crib.server("slow")
    serving = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "toolcrib", "--home", str(crib.home), "serve", "--json", **_pipes()
    )
    try:
        assert serving.stdout is not None
        async with asyncio.timeout(DEADLINE):
            url = json.loads(await serving.stdout.readline())["url"]
        speaker = Speaker(client, url)
        await speaker.open()
        await until_called(speaker, "slow", 0)
        sleep = {"name": "slow__sleep", "arguments": {"seconds": 300}}
        async with speaker.stream() as stream:
            modern = asyncio.create_task(speaker.modern("tools/call", **sleep))
            legacy = asyncio.create_task(speaker.legacy("tools/call", 5, **sleep))
            await until_called(speaker, "slow", 2)
            serving.send_signal(signal.SIGTERM)
            async with asyncio.timeout(DEADLINE):
                async for _ in stream.aiter_lines():
                    pass
        for answer in (await modern, await legacy):
            assert "The gateway shut down" in answer.json()["error"]["message"]
        async with asyncio.timeout(DEADLINE):
            assert await serving.wait() == 0
        assert serving.stderr is not None
        assert await serving.stderr.read() == b""
    finally:
        if serving.returncode is None:
            serving.kill()
            await serving.wait()


def _pipes() -> dict[str, object]:
    kept = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    environment = {**kept, "TOOLCRIB_KEYRING": "off", "TOOLCRIB_TRUST_CONFIG": "1"}
    return {"stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.PIPE, "env": environment}
