"""Nothing that a server sends holds the event loop: what is large is handled in short steps or refused."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Crib
from tests.loop_meter import LIMIT, LoopMeter
from toolcrib.agent.chat import Said
from toolcrib.errors import ToolcribError
from toolcrib.operations.chats import chat_export, chat_show, chat_view
from toolcrib.operations.ranking import search
from toolcrib.schema.messages import FromModel, FromUser, Text
from toolcrib.servers.sessions.codec import MAX_BATCH, NotAMessage, decode_any

MB = 1_000_000
HEAD = b'{"jsonrpc":"2.0","id":7,"result":'
DAMAGED = {
    "many beginnings": b'{"id":[' * 64 + b"1," * (MB // 2),
    "a list without an end": HEAD + b"[" + b"1," * (MB // 2),
    "objects without an end": HEAD + b"[" + b"{}," * (MB // 3),
    "nested lists": HEAD + b"[" + (b"[" * 50 + b"]" * 50 + b",") * (MB // 101) + b"1]}",
    "very deep": HEAD + b"[" * MB,
    "escaped quotes without an end": HEAD + b'"' + b'\\"' * (MB // 2),
    "backslashes": HEAD + b'"' + b"\\" * MB,
    "lone surrogates": HEAD + b"[" + b'"\\ud800",' * (MB // 9) + b"1]}",
    "invalid UTF-8": HEAD + b'"' + b"\xff" * MB + b'"}',
    "a number of a million digits": HEAD + b"1" * MB + b"}",
    "names": HEAD + b"{" + b",".join(b'"k%d":1' % n for n in range(MB // 10)) + b"}}",
    "openings": b'{"id":' * (MB // 6),
}


@pytest.mark.parametrize("shape", DAMAGED)
async def test_no_shape_of_a_line_holds_the_loop(shape: str):
    with LoopMeter() as meter, contextlib.suppress(NotAMessage):
        await decode_any(DAMAGED[shape])
    assert meter.turn < LIMIT


async def test_lines_just_too_small_for_a_thread_do_not_hold_the_loop():
    for line in DAMAGED.values():
        with LoopMeter() as meter, contextlib.suppress(NotAMessage):
            await decode_any(line[: 32 * 1024])
        assert meter.turn < LIMIT


async def test_a_batch_of_very_many_messages_is_refused():
    message = b'{"jsonrpc":"2.0","method":"x"}'
    assert len(await decode_any(b"[" + b",".join([message] * MAX_BATCH) + b"]")) == MAX_BATCH
    with pytest.raises(NotAMessage):
        await decode_any(b"[" + b",".join([message] * (MAX_BATCH + 1)) + b"]")


SERVER = """
import json, sys

tools, shape = json.loads(sys.argv[1]), sys.argv[2]
listed = 0

def tool(number):
    path = {"type": "string", "description": "Where it is."}
    text = f"Finds thing {number} in the files" + (f", version {listed}." if number else ".")
    return {"name": f"tool_{number}", "description": text, "inputSchema": {"properties": {"path": path}}}

ANSWERS = {
    "ok": lambda: '{"content":[]}',
    "keys": lambda: '{"content":[],"structuredContent":%s}' % json.dumps({str(n): n for n in range(150_000)}),
    "million": lambda: '{"content":[],"structuredContent":[' + "1," * 10**6 + "1]}",
    "items": lambda: '{"content":[' + ",".join(['{"type":"text","text":"x"}'] * 10**5) + "]}",
    "deep": lambda: '{"content":[],"structuredContent":' + "[" * 10_000 + "]" * 10_000 + "}",
    "digits": lambda: '{"content":[],"structuredContent":{"n":' + "1" * 5000 + "}}",
    "text": lambda: '{"content":"text"}',
    "object": lambda: '{"content":{"0":{}}}',
    "list": lambda: "[]",
    "number": lambda: "5",
    "nothing": lambda: "",
    "cut": lambda: '{"content":[{"type":"text","text":"x"',
}

def write(text):
    sys.stdout.write(text + "\\n")
    sys.stdout.flush()

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        about = {"protocolVersion": "2025-06-18", "serverInfo": {"name": "large", "version": "1"}}
        answer = json.dumps({**about, "capabilities": {"tools": {"listChanged": True}}})
    elif message["method"] == "tools/list":
        listed += 1
        answer = json.dumps({"tools": [tool(number) for number in range(tools)]})
    elif message["method"] == "tools/call":
        answer = ANSWERS[shape]()
        if shape == "ok":
            write('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}')
    elif message["method"] == "ping":
        answer = "{}"
    else:
        write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "?"}}))
        continue
    write('{"jsonrpc":"2.0","id":%d,"result":%s}' % (message["id"], answer))
"""


def add_large(crib: Crib, tmp_path: Path, *, tools: int = 1, shape: str = "ok", **keys: Any) -> None:
    program = tmp_path / "large_server.py"
    program.write_text(SERVER)
    arguments = ["-S", "-E", str(program), str(tools), shape]
    crib.entry("large", {"command": sys.executable, "args": arguments, "timeout": 600, **keys})


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        ("keys", "more than 100,000 values"),
        ("million", "more than 1,000,000 values"),
        ("items", "more than 100,000 values"),
        ("deep", "nested too deeply"),
        ("digits", "digits"),
        ("text", "not a list"),
        ("object", "not a list"),
        ("list", "not an object"),
        ("number", "not an object"),
        ("nothing", "not valid JSON"),
        ("cut", "not valid JSON"),
    ],
)
async def test_an_unusable_answer_fails_its_call_at_once(crib: Crib, tmp_path: Path, shape: str, reason: str):
    add_large(crib, tmp_path, shape=shape)
    async with crib.open() as host:
        await host.ready()
        async with asyncio.timeout(60):  # its own timeout is ten minutes
            with LoopMeter() as meter, pytest.raises(ToolcribError, match=reason):
                await host.call("large__tool_0", {"path": "x"})
        assert meter.turn < LIMIT or shape not in ("keys", "million", "items")


async def test_a_long_list_of_tools_holds_the_loop_neither_first_nor_changed_nor_cached(
    crib: Crib, tmp_path: Path, until: Callable[..., Any]
):
    add_large(crib, tmp_path, tools=1500)
    async with crib.open() as host:
        await host.ready()  # imports are no part of the measurement
    for lazy in (False, True):
        add_large(crib, tmp_path, tools=1500, **({"lazy": True} if lazy else {}))
        async with crib.open() as host:
            with LoopMeter() as meter:
                await until(host, lambda host=host: len(host.tools(disabled=True)) >= 1500)
                version = host.toolset.registry.snapshot.version
                await host.call("large__tool_0", {"path": "x"})
                await until(host, lambda host=host, v=version: host.toolset.registry.snapshot.version > v)
            assert meter.turn < LIMIT


async def test_a_search_among_thousands_of_tools_answers_by_words_before_there_are_vectors(
    crib: Crib, tmp_path: Path
):
    add_large(crib, tmp_path, tools=2000)
    async with crib.open() as host:
        await host.ready()
        await search(host, query="load the model")
        found = await search(host, query="thing 1234")
        assert "large__tool_1234" in [tool["name"] for tool in found["tools"]]
        assert "still being computed" in found["note"]


async def test_a_long_chat_does_not_hold_the_loop(crib: Crib):
    parts = (Text("word " * 200),)
    talk = [FromUser(parts=parts) if n % 2 == 0 else FromModel(parts=parts) for n in range(4000)]
    async with crib.open() as host:
        await host.ready()
        short = (await host.chats.store.create("m", entries=[Said(message=talk[0])])).id
        await chat_view(host, short)  # imports are no part of the measurement
        long = (await host.chats.store.create("m", entries=[Said(message=one) for one in talk])).id
        with LoopMeter() as meter:
            view = await chat_view(host, long, limit=10)
            await chat_show(host, long)
            export = await chat_export(host, long)
        assert len(view["turns"]) == 10
        assert view["earlier"] == len(talk) // 2 - 10
        assert export["text"].count("word") == 200 * len(talk)
        assert meter.turn < LIMIT


async def test_the_first_search_loads_its_libraries_beside_the_loop(tmp_path: Path):
    program = tmp_path / "first_search.py"
    program.write_text(FIRST_SEARCH)
    running = await asyncio.create_subprocess_exec(
        sys.executable, str(program), str(tmp_path / "home"), stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(60):
        printed, _ = await running.communicate()
    assert printed.split() == [b"numpy", b"in", b"a", b"thread,", b"variables", b"hidden"]


FIRST_SEARCH = """
import asyncio, os, sys, threading
from pathlib import Path
import toolcrib
from toolcrib.agent.chat import Said
from toolcrib.operations.chats import chat_export, chat_show, chat_view
from toolcrib.operations.ranking import search
from toolcrib.schema.messages import FromModel, FromUser, Text

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            beside = threading.current_thread() is not threading.main_thread()
            print("numpy", "in a thread," if beside else "on the loop,", end=" ")
            print("variables", "shown" if "OPENBLAS_NUM_THREADS" in os.environ else "hidden")
        return None

async def main():
    async with toolcrib.open_host(Path(sys.argv[1])) as host:
        await host.ready()
        await search(host, query="read a file")

sys.meta_path.insert(0, Watch())
asyncio.run(main())
"""
