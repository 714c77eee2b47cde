"""A head that a connection brought before is not parsed again; nobody notices, whatever comes after it."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.gateway.speaking import DEADLINE, META, connection, eventually

HEAD = (
    b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\nContent-Length: %d\r\n\r\n"
)


def listing(number: int, **more: str) -> bytes:
    """A request whose head is the same for every number of as many digits."""
    params = {"_meta": META, **more}
    body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/list", "params": params}).encode()
    return HEAD % len(body) + body


async def answered(reader: asyncio.StreamReader) -> int:
    """The id of the request that the next answer is for, or the status that refuses it."""
    async with asyncio.timeout(DEADLINE):
        head = await reader.readuntil(b"\r\n\r\n")
        line, *lines = head.lower().strip().split(b"\r\n")
        headers = dict(one.split(b": ", 1) for one in lines)
        body = await reader.readexactly(int(headers[b"content-length"]))
    status = int(line.split()[1])
    return int(json.loads(body)["id"]) if status == 200 else status


@pytest.fixture
async def talking(serve):
    """A connection that has brought the head of `listing` before."""
    async with serve() as (_, url), connection(url) as (reader, writer):
        writer.write(listing(10))
        assert await answered(reader) == 10
        yield reader, writer


async def test_a_head_that_came_before_brings_a_body_of_its_own(talking):
    reader, writer = talking
    for number in (11, 12, 11):
        writer.write(listing(number))
        assert await answered(reader) == number


async def test_a_head_that_came_before_may_come_in_pieces(talking):
    reader, writer = talking
    whole = listing(11)
    for cut in (5, whole.index(b"\r\n\r\n") + 4, len(whole) - 1):
        writer.write(whole[:cut])
        await writer.drain()
        writer.write(whole[cut:])
        assert await answered(reader) == 11


async def test_requests_with_a_head_that_came_before_may_be_glued_together(talking):
    reader, writer = talking
    writer.write(listing(11) + listing(12) + listing(1))
    assert [await answered(reader) for _ in range(3)] == [11, 12, 1]
    writer.write(listing(13) + b"GET /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert [await answered(reader) for _ in range(2)] == [13, 404]


async def test_what_follows_a_head_that_came_before_is_still_parsed(talking):
    reader, writer = talking
    writer.write(listing(11))
    assert await answered(reader) == 11
    writer.write(b"rubbish\r\n\r\n")
    assert await answered(reader) == 400


async def test_a_body_that_has_become_too_large_is_refused(serve, crib):
    async with serve() as (host, url), connection(url) as (reader, writer):
        writer.write(listing(10, note="x" * 2000))
        assert await answered(reader) == 10
        crib.setting(gateway={"maxBodyBytes": 1024})
        await eventually(lambda: host.settings.gateway.max_body_bytes == 1024)
        writer.write(listing(11))  # by now the gateway follows
        assert await answered(reader) == 11
        writer.write(listing(12, note="x" * 2000))
        assert await answered(reader) == 413
