"""Odd ways of answering over a real pipe: still understood, or at least not the end of the session."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from tests.servers.puppets import LEGACY, MODERN, TOOL, Message, Puppet, line
from toolcrib.errors import ConnectionLost, PeerError
from toolcrib.servers.transport import LinkContext

pytestmark = pytest.mark.usefixtures("tidy")
BOTH_LOOPS = True
SOON = 60.0


async def _answered(puppet: Any, write: Any) -> dict[str, Any]:
    """The result of a call that the server answers with what `write` makes of the reply."""

    def odd(server: Puppet, message: Message) -> Any:
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": {"content": [], "n": 1}}
        return server.say(*write(reply, message["id"]))

    async with puppet({**LEGACY, "tools/call": odd}) as server, server.connect() as session:
        result: dict[str, Any] = await session.call_tool("x", {}, timeout=SOON)
        assert await session.list_tools(timeout=SOON) == [TOOL]  # and it still works
        return result


@pytest.mark.parametrize(
    "write",
    [
        lambda reply, number: [{**reply, "id": str(number), "result": {}}, reply],
        lambda reply, number: [{**reply, "id": float(number), "result": {}}, reply],
        lambda reply, number: [{**reply, "id": None, "result": {}}, reply],
        lambda reply, number: [b'{"jsonrpc":"2.0","id":"%d","result":{"a":}\n' % number, reply],
        lambda reply, number: [b'{"jsonrpc":"2.0","id":%d.0,"result":{"a":}\n' % number, reply],
        lambda reply, number: [reply, reply, {**reply, "result": {}}],
        lambda reply, number: [json.dumps([reply, {"jsonrpc": "2.0", "method": "n"}]).encode() + b"\n"],
        lambda reply, number: [b"Loading model... " + line(reply)],
        lambda reply, number: [b"\xef\xbb\xbf" + line(reply)],
        lambda reply, number: [line(reply).rstrip() + line(reply)],
        lambda reply, number: [line(reply).replace(b"\n", b"\r\n")],
        lambda reply, number: [b"\n\n \n", reply, b"\n"],
        lambda reply, number: [b"caf\xe9 \xff\xfe\n", b"\x00\x01\n", reply],
        lambda reply, number: [b"[" * 100_000 + b"\n", b'{"a":' * 100_000 + b"\n", reply],
        lambda reply, number: [b"x" * 5_000_000 + b"\n", reply],
        lambda reply, number: [{"jsonrpc": "2.0", "id": "²", "result": {}}, reply],
        lambda reply, number: [{"jsonrpc": "2.0", "id": [1], "method": "ping"}, reply],
        lambda reply, number: [
            {"jsonrpc": "2.0", "method": 5},
            {"jsonrpc": "2.0", "id": 9, "method": {}},
            reply,
        ],
        lambda reply, number: [b'{"level":"info","id":%d,"result":"a log line"}\n' % number, reply],
        lambda reply, number: [{**reply, "extra": {"fields": "everywhere"}}],
        lambda reply, number: [dict(reversed(reply.items()))],
        lambda reply, number: [line(reply)[:20], line(reply)[20:]],
    ],
)
async def test_an_odd_way_of_answering_is_still_an_answer(puppet, write):
    assert await _answered(puppet, write) == {"content": [], "n": 1}


async def test_an_error_without_an_id_fails_no_call_in_either_era(puppet):
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}}
    listening = {**MODERN["server/discover"], "capabilities": {"tools": {"listChanged": True}}}
    for script in (LEGACY, {**MODERN, "server/discover": listening}):

        def odd(server: Puppet, message: Message) -> Any:
            return server.say(error, {"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}})

        async with puppet({**script, "tools/call": odd}) as server, server.connect() as session:
            assert (await session.call_tool("x", {}, timeout=SOON))["content"] == []


async def test_characters_and_numbers_at_the_edge_pass_both_ways(puppet):
    def echo(server: Puppet, message: Message) -> Any:
        return server.reply(message, {"content": [], "echo": message["params"]["arguments"]})

    edge = {"surrogate": "a\ud800b", "emoji": "😀", "nul": "\0", "big": 10**200, "small": 5e-324, "é": "é"}
    async with puppet({**LEGACY, "tools/call": echo}) as server, server.connect() as session:
        result = await session.call_tool("x", edge, timeout=SOON)
        assert result["echo"] == edge
        result = await session.call_tool("x", {"n": math.nan, "i": math.inf}, timeout=SOON)
        assert result["echo"] == {"n": None, "i": None}


async def test_a_number_that_is_none_in_an_answer_is_heard(puppet):
    answer = b'{"jsonrpc":"2.0","id":%d,"result":{"content":[],"n":NaN}}\n'
    script = {**LEGACY, "tools/call": lambda server, message: server.say(answer % message["id"])}
    async with puppet(script) as server, server.connect() as session:
        assert math.isnan((await session.call_tool("x", {}, timeout=SOON))["n"])


async def test_rubbish_is_counted(puppet):
    async with puppet(LEGACY) as server, server.connect() as session:
        await server.say(b"one\ntwo\n\n", b'{"three":3}\n')
        await server.until(lambda: server.junk_lines == 3)
        assert await session.list_tools(timeout=SOON) == [TOOL]


async def test_a_line_above_the_bound_loses_the_session(puppet):
    context = LinkContext(server="puppet", max_message_bytes=1 << 20)
    script = {**LEGACY, "tools/call": lambda server, message: server.say(b"x" * (2 << 20))}
    async with puppet(script) as server, server.connect(context) as session:
        with pytest.raises(ConnectionLost, match="a line of more than 1 MB"):
            await session.call_tool("x", {}, timeout=SOON)


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (b"[" * 10_000 + b"]" * 10_000, "nested too deeply"),
        (b'{"content":[],"n":' + b"1" * 5_000 + b"}", "digits"),
        (b'{"content":[],"cut":', "not valid JSON"),
        (b'{"content":[],"rows":[' + b"1," * 200_000 + b"}}", "not valid JSON"),
        (b'{"content":"text"}', "not a list"),
        (b'{"content":{"type":"text","text":"x"}}', "not a list"),
    ],
)
async def test_an_answer_that_cannot_be_read_fails_its_call_at_once(puppet, result: bytes, reason: str):
    answer = b'{"jsonrpc":"2.0","id":%d,"result":%b}\n'
    script = {**LEGACY, "tools/call": lambda server, message: server.say(answer % (message["id"], result))}
    async with puppet(script) as server, server.connect() as session:
        with pytest.raises(PeerError, match=reason):
            await session.call_tool("x", {}, timeout=None)
        assert await session.list_tools(timeout=SOON) == [TOOL]


async def test_a_missing_content_is_an_empty_one(puppet):
    script = {**LEGACY, "tools/call": {"structuredContent": {"n": 1}}}
    async with puppet(script) as server, server.connect() as session:
        assert (await session.call_tool("x", {}, timeout=SOON))["content"] == []
