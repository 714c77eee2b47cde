"""Our connection accepts no request that h11 or llhttp would refuse or read in another way, and none whose
meaning depends on how its bytes were split."""

from __future__ import annotations

import os
import time
from random import Random

import pytest

from tests.gateway.http.random_requests import RandomRequests
from tests.gateway.http.readers import read_h11, read_llhttp, read_ours
from toolcrib.gateway.http.parser import MAX_HEAD

STREAMS = 8000
HOST = b"Host: 127.0.0.1\r\n"
NEXT = b"GET /next HTTP/1.1\r\n" + HOST + b"\r\n"


def check_stream(whole: bytes, pieces: list[bytes]) -> int:
    """Read the stream in three ways; returns how many requests we accepted."""
    ours = read_ours(pieces).messages
    assert ours == read_ours([whole]).messages, f"depends on the pieces: {pieces!r}"
    for read in (read_h11, read_llhttp):
        expected = read(whole).messages[: len(ours)]
        assert ours == expected, f"{read.__name__} reads {whole!r}\nas   {expected}\nours {ours}"
    return len(ours)


def run_seed(seed: int) -> int:
    """How many requests of many random streams we accepted."""
    generator = RandomRequests(Random(seed))
    accepted = 0
    for _ in range(STREAMS):
        requests = generator.stream()
        accepted += check_stream(b"".join(requests), generator.pieces(requests))
    return accepted


@pytest.mark.acceptance
async def test_no_random_stream_is_read_more_leniently_than_by_h11_and_llhttp() -> None:
    assert run_seed(2026) > STREAMS // 2  # the generator makes enough valid requests


@pytest.mark.soak
@pytest.mark.timeout(7200)
async def test_random_streams_for_minutes() -> None:
    end = time.monotonic() + 60 * float(os.environ.get("SOAK_MINUTES", "60")) / 10
    seed = time.time_ns()
    while time.monotonic() < end:
        print(f"seed {seed}")
        run_seed(seed)
        seed += 1


@pytest.mark.parametrize(
    "request_",
    [
        b"GET  /mcp HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET /mcp\r\n" + HOST + b"\r\n",
        b"GET /mcp;HTTP/1.1\r\n" + HOST + b"\r\n",
        b"OPTIONS /mcp RTSP/1.0\r\n" + HOST + b"\r\n",
        b"CONNECT /mcp HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET /\xff HTTP/1.1\r\n" + HOST + b"\r\n",
        b"POST /mcp HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: ,chunked\r\n\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\n" + HOST + HOST + b"Content-Length: 2\r\n\r\n{}",
        b"POST /mcp HTTP/1.1\r\n"
        + HOST
        + b"Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\n{}",
        b"\x16\x03\x01\x02\x00\x01",
        b"GET / HTTP/1.1\nHost: 127.0.0.1\n\n",
    ],
)
@pytest.mark.parametrize("bytewise", [False, True])
async def test_a_request_that_servers_could_read_in_different_ways_is_refused(
    request_: bytes, bytewise: bool
) -> None:
    stream = request_ + NEXT
    pieces = [stream[place : place + 1] for place in range(len(stream))] if bytewise else [stream]

    reading = read_ours(pieces)

    assert (reading.messages, reading.refused) == ([], True)


async def test_a_trailer_that_asks_to_close_the_connection_closes_it() -> None:
    chunked = (
        b"POST /mcp HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\nConnection: close\r\n\r\n"
    )

    assert [message.target for message in read_ours([chunked + NEXT]).messages] == [b"/mcp"]


@pytest.mark.parametrize(("size", "accepted"), [(MAX_HEAD, 1), (MAX_HEAD + 1, 0)])
@pytest.mark.parametrize("piece", [1, 1000, MAX_HEAD, 10 * MAX_HEAD])
async def test_the_limit_of_a_head_does_not_depend_on_its_pieces(
    size: int, accepted: int, piece: int
) -> None:
    head = b"GET / HTTP/1.1\r\n" + HOST + b"X: "
    request = head + b"x" * (size - len(head) - 4) + b"\r\n\r\n"

    reading = read_ours([request[place : place + piece] for place in range(0, size, piece)])

    assert (len(request), len(reading.messages)) == (size, accepted)


@pytest.mark.parametrize("lines", [1, 100_000])
async def test_empty_lines_before_a_request_are_ignored(lines: int) -> None:
    assert len(read_ours([b"\r\n" * lines, b"\r\n" + NEXT]).messages) == 1
