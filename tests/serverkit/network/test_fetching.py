"""Limits of one response: size, decompressed size, time, headers and content types."""

from __future__ import annotations

import asyncio
import gzip
import traceback
import zlib

import pytest

from tests.loop_clock import LoopClock, settle
from tests.serverkit.network.names import on_loopback
from tests.servers.remote.scripted import Call, Handler, Reply, scripted
from toolcrib.serverkit.network import Fetched, FetchFailed, FetchLimits, fetch

POLICY = on_loopback()
SMALL = FetchLimits(max_bytes=100_000)
DEADLINE = 60.0


async def fetch_from(handler: Handler, limits: FetchLimits = SMALL, **options: object) -> Fetched:
    async with scripted(handler) as server, asyncio.timeout(DEADLINE):
        return await fetch(f"http://127.0.0.1:{server.port}/", POLICY, limits=limits, **options)  # type: ignore[arg-type]


def sends(body: bytes, **headers: str) -> Handler:
    async def handler(call: Call, reply: Reply) -> None:
        await reply.send(200, body, **headers)

    return handler


async def test_a_page_arrives_with_its_type_and_charset() -> None:
    fetched = await fetch_from(sends(b"hello", content_type='Text/HTML; Charset="ISO-8859-1"'))

    assert (fetched.status, fetched.content) == (200, b"hello")
    assert (fetched.media_type, fetched.charset) == ("text/html", "iso-8859-1")
    assert fetched.redirects == ()


@pytest.mark.parametrize("declared", ["", "nonsense", "text/", ";;;=", "text/html; charset=\xff"])
async def test_a_senseless_content_type_does_no_harm(declared: str) -> None:
    headers = {"content_type": declared} if declared else {}

    assert (await fetch_from(sends(b"x", **headers))).content == b"x"


@pytest.mark.parametrize("status", [204, 304, 404, 500])
async def test_any_status_is_an_answer(status: int) -> None:
    async def handler(call: Call, reply: Reply) -> None:
        await reply.send(status)

    assert (await fetch_from(handler)).status == status


async def test_a_body_that_announces_too_many_bytes_is_not_read() -> None:
    async def handler(call: Call, reply: Reply) -> None:
        await reply.raw(b"HTTP/1.1 200 X\r\ncontent-length: 1000000000\r\n\r\n")
        await reply.client_gone()

    with pytest.raises(FetchFailed, match="more than 100,000 bytes"):
        await fetch_from(handler)


async def test_a_stream_without_end_is_cut() -> None:
    sent = 0

    async def handler(call: Call, reply: Reply) -> None:
        nonlocal sent
        await reply.raw(b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n")
        while True:
            await reply.chunk(b"x" * 10_000)
            sent += 10_000

    with pytest.raises(FetchFailed, match="more than 100,000 bytes"):
        await fetch_from(handler)
    assert sent < 50_000_000


async def test_a_body_of_exactly_the_limit_is_read() -> None:
    assert len((await fetch_from(sends(b"x" * 100_000))).content) == 100_000


async def test_a_body_that_comes_drop_by_drop_ends_with_the_deadline(clock: LoopClock) -> None:
    async def handler(call: Call, reply: Reply) -> None:
        await reply.raw(b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n")
        while True:
            await reply.chunk(b"x")
            await clock.passes(1)

    with pytest.raises(FetchFailed, match="did not send everything within 30 s"):
        await fetch_from(handler, FetchLimits(idle=60))


async def test_a_body_that_stops_ends_with_the_idle_limit(clock: LoopClock) -> None:
    read = asyncio.Event()

    async def handler(call: Call, reply: Reply) -> None:
        await reply.raw(b"HTTP/1.1 200 X\r\ncontent-length: 10\r\n\r\nhalf")
        await settle()
        read.set()
        await reply.client_gone()

    fetching = fetch_from(handler, FetchLimits())
    with pytest.raises(FetchFailed, match="stopped sending for 10 s"):
        await clock.outlasts(fetching, 10, begun=read.wait())


async def test_a_server_that_never_answers_is_given_up(clock: LoopClock) -> None:
    asked = asyncio.Event()

    async def handler(call: Call, reply: Reply) -> None:
        asked.set()
        await reply.client_gone()

    with pytest.raises(FetchFailed, match="did not answer in time"):
        await clock.outlasts(fetch_from(handler, FetchLimits()), 10, begun=asked.wait())


async def test_the_deadline_counts_redirects_too(clock: LoopClock) -> None:
    async def handler(call: Call, reply: Reply) -> None:
        await clock.passes(5)
        await reply.send(302, location="/again")

    with pytest.raises(FetchFailed, match="did not send everything"):
        await fetch_from(handler, FetchLimits(idle=60, redirects=100))


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b"hello", mtime=0)),
        ("GZIP", gzip.compress(b"hello", mtime=0)),
        ("deflate", zlib.compress(b"hello")),
        ("deflate", zlib.compress(b"hello")[2:-4]),
        ("gzip, deflate", zlib.compress(gzip.compress(b"hello", mtime=0))),
        ("identity", b"hello"),
    ],
)
async def test_a_compressed_body_is_decompressed(encoding: str, body: bytes) -> None:
    assert (await fetch_from(sends(body, content_encoding=encoding))).content == b"hello"


def bomb(size: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = bytes(1024 * 1024)
    return b"".join([*(packer.compress(block) for _ in range(size >> 20)), packer.flush()])


@pytest.mark.parametrize("layers", [1, 2])
async def test_a_decompression_bomb_stops_at_the_limit(layers: int) -> None:
    body = bomb(64 << 20)
    for _ in range(layers - 1):
        body = gzip.compress(body)
    assert len(body) < 100_000

    with pytest.raises(FetchFailed, match="more than 100,000 bytes"):
        await fetch_from(sends(body, content_encoding=", ".join(["gzip"] * layers)))


@pytest.mark.parametrize(
    "encoding", ["gzip, gzip, gzip", ", ".join(["gzip"] * 50), "compress", "br2", "gzip, x"]
)
async def test_many_or_unknown_encodings_are_refused(encoding: str) -> None:
    with pytest.raises(FetchFailed, match="unsupported content encoding"):
        await fetch_from(sends(b"x", content_encoding=encoding))


async def test_encodings_that_cannot_be_decoded_are_never_asked_for() -> None:
    heard: list[str] = []

    async def handler(call: Call, reply: Reply) -> None:
        heard.append(call.headers["accept-encoding"])
        await reply.send(200)

    await fetch_from(handler, headers={"Accept-Encoding": "compress, sdch"})
    assert "sdch" not in heard[0]


async def test_broken_compression_is_an_error() -> None:
    with pytest.raises(FetchFailed, match="could not be fetched"):
        await fetch_from(sends(b"not gzip at all", content_encoding="gzip"))


async def test_a_content_type_that_is_not_wanted_is_not_read() -> None:
    async def handler(call: Call, reply: Reply) -> None:
        await reply.raw(b"HTTP/1.1 200 X\r\ncontent-type: image/png\r\ncontent-length: 50\r\n\r\n")
        await reply.client_gone()

    with pytest.raises(FetchFailed, match="sent image/png, which is not read here"):
        await fetch_from(handler, FetchLimits(media_types=("text/*", "application/pdf")))


async def test_endless_headers_are_cut() -> None:
    async def handler(call: Call, reply: Reply) -> None:
        await reply.raw(b"HTTP/1.1 200 X\r\n")
        while True:
            await reply.raw(b"x: " + b"y" * 1000 + b"\r\n")

    with pytest.raises(FetchFailed, match="could not be fetched"):
        await fetch_from(handler)


async def test_endless_interim_responses_end_with_the_deadline(clock: LoopClock) -> None:
    async def handler(call: Call, reply: Reply) -> None:
        while True:
            await reply.raw(b"HTTP/1.1 103 Early Hints\r\n\r\n")
            await clock.passes(1)

    with pytest.raises(FetchFailed, match="did not send everything"):
        await fetch_from(handler, FetchLimits(idle=60))


@pytest.mark.parametrize(
    "response",
    [
        b"",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 X\r\ncontent-length: 10\r\n\r\nshort",
        b"HTTP/1.1 99999 X\r\n\r\n",
    ],
)
async def test_a_broken_response_is_an_error_in_plain_words(response: bytes) -> None:
    async def handler(call: Call, reply: Reply) -> None:
        await reply.raw(response)
        reply.cut()

    with pytest.raises(FetchFailed, match="could not be fetched") as caught:
        await fetch_from(handler)
    assert caught.value.hint


@pytest.mark.parametrize("key", ["hunter2\n", "hunter2\r\nX: y", "hunter2\u00e9", "hunter2\x00"])
async def test_a_key_that_cannot_be_sent_does_not_appear_in_the_error(key: str) -> None:
    with pytest.raises(FetchFailed, match="cannot be sent") as failure:
        await fetch_from(sends(b"x"), headers={"X-Api-Key": key})

    assert "hunter2" not in "".join(traceback.format_exception(failure.value))


async def test_cancelling_a_fetch_closes_its_connection() -> None:
    begun, gone = asyncio.Event(), asyncio.Event()

    async def handler(call: Call, reply: Reply) -> None:
        begun.set()
        await reply.client_gone()
        gone.set()

    async with scripted(handler) as server, asyncio.timeout(DEADLINE):
        fetching = asyncio.create_task(fetch(f"http://127.0.0.1:{server.port}/", POLICY))
        await begun.wait()
        fetching.cancel()
        await asyncio.gather(fetching, return_exceptions=True)
        await gone.wait()

    assert fetching.cancelled()
