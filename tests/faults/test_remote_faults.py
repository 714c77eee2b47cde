"""A remote server in each kind of trouble (28), through a real host: each has its own state and words."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.faults.flow import Flow
from toolcrib.errors import AuthRequired, RemoteUnreachable, ServerUnavailable
from toolcrib.schema.servers import ServerState
from toolcrib.servers.health import FLOODS

FLOODING = Path(__file__).parents[2] / "benchmarks/flooding_http_server.py"
TOOL = {"name": "hello", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}


class Remote(BaseHTTPRequestHandler):
    """A legacy server that answers in JSON; `trouble` on the class decides what goes wrong."""

    protocol_version = "HTTP/1.1"
    trouble = ""
    posts = 0
    closing = False

    def do_POST(self) -> None:
        self.close_connection = self.close_connection or self.closing
        type(self).posts += 1
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.trouble.isdigit():
            self.answer(int(self.trouble), b"")
        elif "id" not in message:
            self.answer(202, b"")
        else:
            reply = {"jsonrpc": "2.0", "id": message["id"], **self.reply_to(message)}
            self.answer(200, json.dumps(reply).encode())

    def do_GET(self) -> None:
        self.answer(405, b"")

    def do_DELETE(self) -> None:
        self.answer(200, b"")

    def reply_to(self, message: dict[str, Any]) -> dict[str, Any]:
        if message["method"] == "initialize":
            info = {"name": "remote", "version": "2"}
            version = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
            return {"result": version}
        if message["method"] == "tools/list":
            return {"result": {"tools": [TOOL]}}
        if message["method"] == "tools/call":
            return {"result": {"content": [{"type": "text", "text": "hello"}], "isError": False}}
        return {"error": {"code": -32601, "message": "no such method"}}

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: Any) -> None:
        """Say nothing."""


@contextmanager
def remote(port: int = 0, trouble: str = "") -> Iterator[tuple[str, type[Remote], int]]:
    handler = type("Handler", (Remote,), {"trouble": trouble, "posts": 0})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp", handler, server.server_port
    finally:
        handler.closing = True
        server.shutdown()
        server.server_close()
        thread.join()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_a_remote_server_is_called(crib):
    with remote() as (url, _, _):
        crib.entry("far", {"url": url})
        async with crib.open() as host:
            await host.ready()
            status = host.servers.status("far")
            assert (status.state, status.era, status.version) == (ServerState.READY, "2025-06-18", "2")
            assert (await host.call("far__hello"))["content"][0]["text"] == "hello"


async def test_a_host_that_is_down_is_tried_for_ever_and_uses_up_no_budget(crib, until, monkeypatch):
    monkeypatch.setattr("toolcrib.servers.restarts.SLOW_FIRST_DELAY", 0.01)
    monkeypatch.setattr("toolcrib.servers.restarts.SLOW_LONGEST_DELAY", 0.02)
    port = free_port()
    crib.entry("far", {"url": f"http://127.0.0.1:{port}/mcp", "restart": {"giveUpAfter": 2}})
    async with crib.open() as host:
        await until(host, lambda: host.servers.status("far").restarts >= 8)
        assert host.servers.status("far").state in (ServerState.BACKOFF, ServerState.STARTING)
        with remote(port):
            await until(host, lambda: host.servers.status("far").state is ServerState.READY)
            assert (await host.call("far__hello"))["content"][0]["text"] == "hello"


@pytest.mark.parametrize("status", ["401", "403"])
async def test_a_refused_sign_in_is_never_retried(crib, status):
    with remote(trouble=status) as (url, handler, _):
        crib.entry("far", {"url": url})
        async with crib.open() as host:
            await host.ready()
            assert host.servers.status("far").state is ServerState.NEEDS_AUTH
            assert handler.posts <= 2


async def test_a_sign_in_that_runs_out_is_noticed_by_the_call_that_meets_it(crib, until):
    with remote() as (url, handler, _):
        crib.entry("far", {"url": url})
        async with crib.open() as host:
            await host.ready()
            handler.trouble = "401"
            with pytest.raises(AuthRequired):
                await host.call("far__hello")
            await until(host, lambda: host.servers.status("far").state is ServerState.NEEDS_AUTH)


async def test_an_overloaded_server_is_no_crash(crib, until):
    with remote(trouble="503") as (url, _, _):
        crib.entry("far", {"url": url})
        async with crib.open() as host:
            await until(host, lambda: host.servers.status("far").state is ServerState.BACKOFF)
            assert "503" in host.servers.status("far").reason


async def test_one_failed_call_leaves_the_connection_in_use(crib):
    with remote() as (url, handler, _):
        crib.entry("far", {"url": url})
        async with crib.open() as host:
            await host.ready()
            handler.trouble = "503"
            with pytest.raises(RemoteUnreachable):
                await host.call("far__hello")
            handler.trouble = ""
            assert (await host.call("far__hello"))["content"][0]["text"] == "hello"
            assert host.servers.status("far").restarts == 0


async def test_a_host_that_goes_down_while_idle_is_noticed_and_found_again(crib, until, monkeypatch):
    monkeypatch.setattr("toolcrib.servers.health.RECHECK_INTERVAL", 0.05)
    monkeypatch.setattr("toolcrib.servers.restarts.SLOW_FIRST_DELAY", 0.05)
    crib.setting(livenessInterval=0.05, callWait=0.1)
    stack = AsyncExitStack()
    with remote() as (url, _, port):
        crib.entry("far", {"url": url, "restart": {"giveUpAfter": 1}})
        running = await stack.enter_async_context(crib.open())
        await running.ready()
    await until(running, lambda: running.servers.status("far").state is ServerState.BACKOFF)
    with pytest.raises(ServerUnavailable):
        await running.call("far__hello")
    with remote(port):
        await until(running, lambda: running.servers.status("far").state is ServerState.READY)
    await stack.aclose()


async def test_an_address_that_is_no_server_says_so(crib):
    with remote(trouble="404") as (url, _, _):
        crib.entry("far", {"url": url, "restart": {"enabled": False}})
        async with crib.open() as host:
            await host.ready()
            status = host.servers.status("far")
            assert status.state is ServerState.FAILED
            assert "404" in status.reason


@contextmanager
def flooding(way: str, kind: str) -> Iterator[dict[str, Any]]:
    command = [sys.executable, str(FLOODING), way, kind]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        try:
            yield {"type": "sse" if way in ("sse", "early") else "http", "url": url, "era": "legacy"}
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("way", "kind"),
    [
        ("http", "small"),
        ("http", "comment"),
        ("http", "drip"),
        ("http", "informational"),
        ("sse", "sampling"),
    ],
)
@pytest.mark.acceptance
async def test_a_remote_server_that_floods_is_read_slowly(crib, until, monkeypatch, way, kind):
    flow = Flow(monkeypatch)
    with flooding(way, kind) as entry:
        crib.entry("flooding", entry)
        crib.server("steady")
        async with crib.open() as host:
            await until(host, lambda: FLOODS in host.servers.status("flooding").reason)
            assert host.servers.status("flooding").state is ServerState.DEGRADED
            for number in range(20):
                answer = await host.call("steady__echo", {"text": str(number)})
                assert answer["content"][0]["text"] == str(number)
            flow.check()
            if way == "http":  # with SSE, an answer comes after what was sent before it
                assert (await host.call("flooding__echo", {}))["content"][0]["text"] == "echo"


async def test_a_server_that_floods_before_it_has_started_fails_with_the_reason(crib, until):
    with flooding("early", "sampling") as entry:
        crib.entry("flooding", {**entry, "timeouts": {"start": 3}})
        async with crib.open() as host:
            await until(host, lambda: FLOODS in host.servers.status("flooding").reason)
            assert host.servers.status("flooding").state is ServerState.BACKOFF


async def test_a_flood_in_place_of_an_answer_is_read_slowly_too(crib, until):
    with flooding("call", "small") as entry:
        crib.entry("flooding", entry)
        async with crib.open() as host:
            await host.ready()
            call = asyncio.ensure_future(host.call("flooding__echo", {}))
            await until(host, lambda: host.servers.status("flooding").state is ServerState.DEGRADED)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
