"""Large messages of servers and clients pass or are refused, and neither holds the loop for others."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pydantic_core import from_json

from tests.conftest import Crib
from tests.gateway.speaking import META
from tests.loop_meter import LIMIT, LoopMeter
from toolcrib.cli.host_connection import serve_operations
from toolcrib.errors import InvalidArguments
from toolcrib.gateway.bridge import bridge_handlers
from toolcrib.gateway.gateway import Gateway
from toolcrib.gateway.identity import session_of
from toolcrib.gateway.stdio import serve_stdio
from toolcrib.serverkit.encoding import STRING_STEP, _safe_cut, read_large
from toolcrib.servers.remote.event_stream import EventStreamReader
from toolcrib.servers.sessions.codec import Measured
from toolcrib.tools.masker import MAX_TEXT, Masker
from toolcrib.tools.results import cap

SERVER = r"""
import json, sys

MB = 1_000_000
TEXT = '{"content":[{"type":"text","text":"%s"}]}'
IMAGE = '{"content":[{"type":"image","mimeType":"image/png","data":"%s"}]}'
LIST = '{"content":[],"structuredContent":{"rows":[%s]}}'
RESULTS = {
    "text": lambda: TEXT % ("lorem ipsum " * (5 * MB)),
    "one surrogate": lambda: TEXT % ("lorem ipsum " * (5 * MB) + r"\ud800"),
    "a million surrogates": lambda: TEXT % (r"lorem ip\ud800" * MB),
    "only surrogates": lambda: TEXT % (r"\ud800" * (2 * MB)),
    "only low surrogates": lambda: TEXT % (r"\udc00" * (2 * MB)),
    "only backslashes": lambda: TEXT % (r"\\" * (15 * MB)),
    "picture": lambda: IMAGE % ("iVBORw0K" * (7 * MB)),
    "digits": lambda: LIST % ",".join(["7" * 4200] * 2000),
    "a few digits": lambda: LIST % ",".join(["7" * 4200] * 200),
    "a long text of digits": lambda: TEXT % ("7" * MB),
    "one number": lambda: LIST % ("7" * 600),
    "values": lambda: LIST % ",".join(["7"] * 90_000),
    "a very long number": lambda: LIST % ("0." + "7" * MB),
    "a long name": lambda: '{"content":[],"structuredContent":{"%s":1}}' % ("k" * (20 * MB)),
}

def write(message_id, result):
    sys.stdout.write('{"jsonrpc":"2.0","id":%d,"result":%s}\n' % (message_id, result))
    sys.stdout.flush()

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    params, result = message.get("params") or {}, "{}"
    if message["method"] == "initialize":
        about = {"protocolVersion": "2025-06-18", "serverInfo": {"name": "large", "version": "1"}}
        result = json.dumps({**about, "capabilities": {"tools": {}, "prompts": {}}})
    elif message["method"] == "prompts/list":
        result = json.dumps({"prompts": [{"name": "prompt %d" % n} for n in range(20_000)]})
    elif message["method"] == "tools/list":
        colours = {"type": "string", "enum": ["colour %d" % n for n in range(18_000)]}
        schemas = {"give": {}, "take": {"numbers": {"type": "array", "items": {"type": "number"}}}}
        schemas["choose"] = {"colour": colours}
        tools = [
            {"name": name, "inputSchema": {"type": "object", "properties": schema}}
            for name, schema in schemas.items()
        ]
        result = json.dumps({"tools": tools})
    elif message["method"] == "tools/call" and params["name"] == "give":
        result = RESULTS[params["arguments"]["shape"]]()
    elif message["method"] == "tools/call":
        result = TEXT % len(json.dumps(params["arguments"]))
    write(message["id"], result)
"""
MB = 1_000_000


@pytest.fixture
def large(crib: Crib, tmp_path: Path) -> Crib:
    program = tmp_path / "large_server.py"
    program.write_text(SERVER)
    crib.entry("large", {"command": sys.executable, "args": ["-S", "-E", str(program)], "timeout": 600})
    crib.setting(max_result_bytes=100 * MB)
    return crib


def call(tool: str, arguments: str) -> bytes:
    params = f'{{"name":"large__{tool}","arguments":{arguments},"_meta":{json.dumps(META)}}}'
    return f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}'.encode()


async def posted(url: str, body: bytes, tool: str) -> list[bytes]:
    """The parts of the response; the client does as little as it can, because it uses the same loop."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    head = (
        f"POST {address.path} HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nConnection: close\r\n"
        f"Mcp-Name: large__{tool}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode())
    for at in range(0, len(body), MB):
        writer.write(body[at : at + MB])
        await writer.drain()
    parts = []
    while part := await reader.read(MB):
        parts.append(part)
    writer.close()
    return parts


def message_in(parts: list[bytes]) -> Any:
    return from_json(b"".join(parts).partition(b"\r\n\r\n")[2])


RESULTS = {
    "text": "",
    "one surrogate": "",
    "a million surrogates": "",
    "only surrogates": "",
    "only low surrogates": "",
    "only backslashes": "",
    "picture": "",
    "digits": "a number of more than 100 digits at result.structuredContent.rows[0]",
    "a few digits": "a number of more than 100 digits",
    "a long text of digits": "",
    "one number": "",
    "values": "",
    "a very long number": "a number is too long",
    "a long name": "",
}


@pytest.mark.parametrize("shape", RESULTS)
async def test_no_result_holds_the_loop(large: Crib, serve: Any, shape: str):
    async with serve() as (host, url):
        await host.ready()
        await posted(url, call("take", "{}"), "take")  # imports are no part of the measurement
        request = call("give", json.dumps({"shape": shape}))
        async with asyncio.timeout(120):
            with LoopMeter() as meter:
                answer = await posted(url, request, "give")
        assert answer[0].startswith(b"HTTP/1.1 200 ")  # the request was right, whatever the server answered
        message = message_in(answer)
        if RESULTS[shape]:
            assert RESULTS[shape] in message["error"]["message"]
        else:
            assert not message["result"].get("isError")
        assert meter.turn < LIMIT


def rows(value: str, count: int) -> str:
    return '{"rows":[' + ",".join([value] * count) + "]}"


ARGUMENTS: dict[str, tuple[Callable[[], str], str]] = {
    "a text of 15 MB": (lambda: json.dumps({"text": "lorem ipsum " * 1_250_000}), ""),
    "a million surrogates": (lambda: '{"text":"%s"}' % (r"lor\ud800" * MB), ""),
    "a text of digits": (lambda: json.dumps({"text": "7" * 3 * MB}), ""),
    "numbers of 4,200 digits": (
        lambda: rows("7" * 4200, 3500),
        "params.arguments.rows[0]",
    ),
    "a million names": (
        lambda: "{" + ",".join(f'"k{n}":1' for n in range(MB)) + "}",
        "more than 100,000 values",
    ),
    "three million numbers": (lambda: rows("7", 3 * MB), "more than 100,000 values"),
    "90,000 names": (lambda: json.dumps({f"k{n}": n for n in range(90_000)}), ""),
    "90,000 wrong values": (lambda: json.dumps({"numbers": ["x"] * 90_000}), "numbers[0]"),
    "nested lists": (lambda: json.dumps({"rows": [[["x"] * 40] * 40] * 40}), ""),
    "nested too deeply": (lambda: '{"rows":' + "[" * MB + "]" * MB + "}", "nested too deeply"),
}


@pytest.mark.parametrize("shape", ARGUMENTS)
async def test_no_request_holds_the_loop(large: Crib, serve: Any, shape: str):
    make, reason = ARGUMENTS[shape]
    request = call("take", make())
    async with serve() as (host, url):
        await host.ready()
        await posted(url, call("take", '{"numbers":["x"]}'), "take")
        async with asyncio.timeout(120):
            with LoopMeter() as meter:
                answer = await posted(url, request, "take")
        message = message_in(answer)
        assert reason in str(message)
        assert bool(reason) == ("error" in message or message["result"].get("isError", False))
        assert meter.turn < LIMIT


async def read_line(reader: asyncio.StreamReader) -> list[bytes]:
    parts = []
    while not parts or not parts[-1].endswith(b"\n"):
        parts.append(await reader.read(MB))
        assert parts[-1]
    return parts


async def write_line(writer: asyncio.StreamWriter, line: bytes) -> None:
    for at in range(0, len(line), MB):
        writer.write(line[at : at + MB])
        await writer.drain()
    writer.write(b"\n")


@asynccontextmanager
async def on_stdio(host: Any) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A client that started the gateway, and the two pipes between them."""
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
    (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(ours_in, "rb", 0))
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.streams.FlowControlMixin(), os.fdopen(ours_out, "wb", 0)
    )
    serving = asyncio.create_task(serve_stdio(Gateway(host), theirs_in, theirs_out))
    try:
        yield reader, asyncio.StreamWriter(transport, protocol, None, loop)
    finally:
        transport.close()
        await serving


@asynccontextmanager
async def on_socket(host: Any) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    async with serve_operations(host) as path:
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(json.dumps({"token": host.paths.token_file.read_text()}).encode() + b"\n")
        await read_line(reader)  # the greeting
        yield reader, writer
        writer.close()


async def exchanged(
    surface: str, client: tuple[asyncio.StreamReader, asyncio.StreamWriter], tool: str, arguments: str
) -> list[bytes]:
    line = call(tool, arguments)
    if surface == "socket":
        params = f'{{"tool":"large__{tool}","arguments":{arguments}}}'
        line = f'{{"id":1,"operation":"call","params":{params}}}'.encode()
    await write_line(client[1], line)
    return await read_line(client[0])


@pytest.mark.parametrize("surface", ["stdio", "socket"])
async def test_neither_a_pipe_nor_the_socket_of_commands_holds_the_loop(large: Crib, surface: str):
    exchanges = [
        ("give", lambda: '{"shape":"one surrogate"}', "lorem ipsum"),
        ("give", lambda: '{"shape":"picture"}', "iVBORw0K"),
        ("give", lambda: '{"shape":"digits"}', "more than 100 digits"),
        *(("take", make, reason) for make, reason in ARGUMENTS.values()),
    ]
    async with large.open(handlers=bridge_handlers()) as host:
        await host.ready()
        async with (on_stdio if surface == "stdio" else on_socket)(host) as client:
            await exchanged(surface, client, "take", '{"numbers":["x"]}')
            for tool, make, expected in exchanges:
                arguments = make()
                async with asyncio.timeout(120):
                    with LoopMeter() as meter:
                        answer = await exchanged(surface, client, tool, arguments)
                assert expected in b"".join(answer).decode()
                assert meter.turn < LIMIT


@pytest.mark.parametrize("part", [r"\\", r"\udc00", r"\ud83d\ude00", r"a\\\n", r"\\udcx"])
def test_a_long_text_of_escapes_is_parsed_in_short_steps(part: str):
    text = '"%s"' % (part * (3 * STRING_STEP // len(part)))
    start, cuts = 1, []
    while len(text) - 1 - start > STRING_STEP:
        cut = _safe_cut(text.encode(), start, start + STRING_STEP)
        assert cut is not None
        cuts.append(cut)
        start = cut
    assert len(cuts) >= 2
    assert read_large(text.encode())[0] == json.loads(text)


async def test_very_many_prompts_do_not_hold_the_loop(large: Crib):
    async with large.open(handlers=bridge_handlers()) as host:
        await host.ready()
        async with on_stdio(host) as (reader, writer):
            listing = {"jsonrpc": "2.0", "id": 1, "method": "prompts/list", "params": {"_meta": META}}
            async with asyncio.timeout(120):
                with LoopMeter() as meter:
                    await write_line(writer, json.dumps(listing).encode())
                    answer = await read_line(reader)
    assert len(from_json(b"".join(answer))["result"]["prompts"]) == 20_000
    assert meter.turn < LIMIT


async def test_a_client_with_a_very_long_name_does_not_hold_the_loop():
    info = {"name": "x" * (7 * MB), "version": "y" * (7 * MB)}
    with LoopMeter() as meter:
        principal = session_of("", info)
    assert len(principal.session or "") < 120
    assert meter.turn < LIMIT


async def test_a_long_line_of_an_event_stream_does_not_hold_the_loop():
    reader = EventStreamReader()
    for piece in (b"data: {", *[b"x" * 60_000] * 500):
        assert not reader.feed(piece)
    with LoopMeter() as meter:
        (event,) = reader.feed(b"}\n\n")
    assert event.data == b"{" + b"x" * 30_000_000 + b"}"
    assert meter.turn < LIMIT


async def test_cutting_and_recording_very_many_values_does_not_hold_the_loop():
    many = Measured({"content": [], "structuredContent": {f"k{n}": [n, "x"] for n in range(30_000)}})
    many.wire_bytes = 500_000
    nested: Any = ["x" * 400] * 50
    for _ in range(3):
        nested = [nested] * 50
    arguments = {"rows": nested, "text": "x" * (60 * MB)}
    with LoopMeter() as meter:
        cut, size = cap(many, 1000)
    assert cut["_meta"]["toolcrib/cut"]["bytes"] == size == 500_000
    assert meter.turn < LIMIT
    with LoopMeter() as meter:
        text = Masker(["known secret"]).arguments(arguments)
    assert MAX_TEXT < len(text) < 2 * MAX_TEXT
    assert meter.turn < LIMIT


async def test_a_wrong_choice_among_very_many_does_not_hold_the_loop(large: Crib):
    async with large.open() as host:
        await host.ready()
        with pytest.raises(InvalidArguments):  # imports are no part of the measurement
            await host.call("large__take", {"numbers": ["x"]})
        with LoopMeter() as meter, pytest.raises(InvalidArguments, match="18000 in all"):
            await host.call("large__choose", {"colour": "none of these"})
    assert meter.turn < LIMIT


async def test_a_storm_of_cancellations_does_not_hold_the_loop(crib: Crib):
    crib.server("a")
    async with crib.open(handlers=bridge_handlers()) as host:
        await host.ready()
        async with on_stdio(host) as (reader, writer):
            hello = {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            }
            messages = [{"id": 0, "method": "initialize", "params": hello}]
            waits = {"name": "a__sleep", "arguments": {"seconds": 600}}
            messages += [{"id": n, "method": "tools/call", "params": waits} for n in range(1, 1201)]
            cancels = [
                {"method": "notifications/cancelled", "params": {"requestId": n}} for n in range(1, 1201)
            ]
            cancels.append({"id": "end", "method": "ping"})
            lines = [
                "\n".join(json.dumps({"jsonrpc": "2.0", **each}) for each in many)
                for many in (messages, cancels)
            ]
            async with asyncio.timeout(120):
                with LoopMeter() as meter:
                    await write_line(writer, lines[0].encode())
                    await read_line(reader)
                    await write_line(writer, lines[1].encode())
                    while b'"end"' not in (await read_line(reader))[-1]:
                        pass
            assert meter.turn < LIMIT
