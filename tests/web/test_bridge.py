"""ASGI applications at the gateway's address: answered in full, as fast as they are read, ended in time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.conftest import Crib as Home
from tests.loop_clock import settle
from toolcrib.gateway.http.server import serve_http
from toolcrib.web.bridge import MAX_REQUESTS, AsgiApplication, AsgiBridge, Receive, Scope, Send

DEADLINE = 60.0


@pytest.fixture
def home(tmp_path: Any) -> Home:
    """A host without servers."""
    return Home(tmp_path / "home")


@asynccontextmanager
async def serving(home: Home, application: AsgiApplication) -> AsyncIterator[int]:
    """The port where it is served."""
    fallback = AsgiBridge(lambda: application, lambda request: None, lambda: None)
    async with home.open() as host, serve_http(host, fallback=fallback) as (base, _):
        yield int(base.rpartition(":")[2])


async def exchange(port: int, request: str) -> bytes:
    """Everything that is answered until the connection ends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request.format(port=port).encode())
        async with asyncio.timeout(DEADLINE):
            return await reader.read()
    finally:
        writer.close()


GET = "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{{port}}\r\nConnection: close\r\n\r\n"


async def answer(send: Send, status: int = 200, body: bytes = b"ok", *headers: tuple[bytes, bytes]) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [*headers]})
    await send({"type": "http.response.body", "body": body})


async def test_path_query_headers_and_body_arrive_as_they_were_sent(home: Home) -> None:
    seen: list[Any] = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        seen.extend([scope["method"], scope["path"], scope["raw_path"], scope["query_string"]])
        seen.append(dict(scope["headers"])[b"x-name"])
        seen.append((await receive())["body"])
        await answer(send, 201, b"made", (b"x-made", b"1"), (b"content-type", b"text/plain"))

    request = (
        "POST /a%20b/c?x=1&y=%2f HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Name: v\r\nContent-Length: 3\r\n"
    )
    async with serving(home, application) as port:
        got = await exchange(port, request + "Connection: close\r\n\r\nabc")

    assert seen == ["POST", "/a b/c", b"/a%20b/c", b"x=1&y=%2f", b"v", b"abc"]
    assert got.startswith(b"HTTP/1.1 201 Created\r\n")
    assert b"x-made: 1\r\n" in got
    assert got.endswith(b"\r\n\r\nmade")


async def test_streams_go_out_in_chunks_or_to_the_end_of_an_old_connection(home: Home) -> None:
    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 206, "headers": []})
        for part in (b"one", b"two"):
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async with serving(home, application) as port:
        chunked = await exchange(port, GET.format(path="/"))
        old = await exchange(port, "GET / HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n\r\n")
        headed = await exchange(port, GET.format(path="/").replace("GET", "HEAD", 1))

    assert b"206 Partial Content" in chunked
    assert chunked.endswith(b"\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n")
    assert old.endswith(b"\r\n\r\nonetwo")
    assert headed.endswith(b"\r\n\r\n")


@pytest.mark.parametrize("status", [204, 304])
async def test_some_answers_have_no_body(home: Home, status: int) -> None:
    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await answer(send, status, b"")

    async with serving(home, application) as port:
        got = await exchange(port, GET.format(path="/"))

    assert got.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"transfer-encoding" not in got
    assert got.endswith(b"\r\n\r\n")


async def test_who_does_not_read_is_waited_for(home: Home) -> None:
    sent: list[int] = []
    began = asyncio.Event()

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for number in range(400):
            await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
            sent.append(number)
            began.set()
        await send({"type": "http.response.body", "body": b""})

    async with serving(home, application) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1000)
        writer.write(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        async with asyncio.timeout(DEADLINE):
            await began.wait()
            before = -1
            while before != len(sent):  # until it stands still
                before = len(sent)
                await settle()
        held_back = len(sent)
        async with asyncio.timeout(DEADLINE):
            while len(sent) < 400:
                await reader.read(1_000_000)
        writer.close()

    assert held_back < 400


async def test_who_hangs_up_ends_the_work(home: Home) -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with serving(home, application) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        async with asyncio.timeout(DEADLINE):
            await began.wait()
            writer.close()
            await ended.wait()


async def test_an_application_that_fails_says_nothing_of_why(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/late":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"half", "more_body": True})
        if scope["path"] != "/silent":
            raise RuntimeError("the secret is 12345")

    async with serving(home, application) as port:
        failed, silent = [await exchange(port, GET.format(path=path)) for path in ("/now", "/silent")]
        try:
            late = await exchange(port, GET.format(path="/late"))
        except ConnectionResetError:
            late = b""

    for got in (failed, silent):
        assert b"500 Internal Server Error" in got
        assert b"12345" not in got
    assert not late.endswith(b"0\r\n\r\n")


async def test_only_so_many_are_answered_at_once(home: Home) -> None:
    go = asyncio.Event()

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await go.wait()
        await answer(send)

    async with serving(home, application) as port:
        waiting = [
            asyncio.create_task(exchange(port, GET.format(path="/"))) for _ in range(MAX_REQUESTS + 10)
        ]
        async with asyncio.timeout(DEADLINE):
            refused, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            health = await exchange(port, GET.format(path="/healthz"))
            go.set()
            answers = await asyncio.gather(*waiting)

    assert b" 503 " in next(iter(refused)).result()
    assert b" 200 " in health
    assert sum(b" 503 " in one for one in answers) == 10


async def test_the_end_does_not_wait_for_an_application_that_never_ends(home: Home) -> None:
    began = asyncio.Event()

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        began.set()
        await asyncio.Event().wait()

    async with serving(home, application) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        async with asyncio.timeout(DEADLINE):
            await began.wait()
        leaving = time.monotonic()
    writer.close()

    assert time.monotonic() - leaving < DEADLINE
