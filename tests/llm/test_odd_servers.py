"""Servers that copy OpenAI's protocol loosely are understood: what they leave out is filled in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from toolcrib.errors import AnswerCut, ContextTooLong, ModelBusy, ModelError, ModelUnreachable
from toolcrib.llm.context import ModelContext
from toolcrib.llm.model import CompletionRequest, Finished, ModelEvent
from toolcrib.llm.providers import openai
from toolcrib.schema.messages import FromUser, Text

QUESTION = CompletionRequest(messages=[FromUser(parts=(Text("go"),))])
DEADLINE = 60.0


@asynccontextmanager
async def answering(
    body: bytes, kind: str = "text/event-stream", status: str = "200 OK"
) -> AsyncIterator[str]:
    """A server that gives the same answer to everything."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        writer.write(f"{head}Connection: close\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


async def ask(address: str) -> list[ModelEvent]:
    model = openai.open_model("odd", ModelContext(environ={}, address=address, retries=0))
    try:
        async with asyncio.timeout(DEADLINE):
            return [event async for event in model.stream(QUESTION)]
    finally:
        await model.close()


def stream(*deltas: dict[str, Any], end: str | None = "tool_calls", done: bool = True) -> bytes:
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    if end:
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": end}]})
    texts = [*map(json.dumps, chunks), *(["[DONE]"] if done else [])]
    return "".join(f"data: {text}\n\n" for text in texts).encode()


def tool(arguments: Any, **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{"type": "function", "function": {"name": "add", "arguments": arguments}, **more}]}


ODD = {
    "no index": stream(tool('{"a": 1}', id="x")),
    "no id": stream(tool('{"a": 1}', index=0)),
    "an id that is null": stream(tool('{"a": 1}', index=0, id=None)),
    "arguments as an object": stream(tool({"a": 1}, index=0, id="x")),
    "arguments inside a string": stream(tool('"{\\"a\\": 1}"', index=0, id="x")),
    "finished as if it had only spoken": stream(tool('{"a": 1}', index=0, id="x"), end="stop"),
    "no finish reason": stream(tool('{"a": 1}', index=0, id="x"), end=None),
    "no [DONE]": stream(tool('{"a": 1}', index=0, id="x"), done=False),
    "comments and carriage returns": b": hello\r\n\r\n"
    + stream(tool('{"a": 1}', index=0, id="x")).replace(b"\n", b"\r\n"),
}


@pytest.mark.parametrize("body", ODD.values(), ids=ODD.keys())
async def test_an_odd_call_is_understood(body: bytes) -> None:
    async with answering(body) as address:
        events = await ask(address)

    finished = events[-1]
    assert isinstance(finished, Finished)
    (call,) = finished.message.calls
    assert (call.name, dict(call.arguments), call.broken) == ("add", {"a": 1}, None)
    assert call.id
    assert finished.reason == "calls"


async def test_null_arguments_are_none() -> None:
    async with answering(stream(tool(None, index=0, id="x"))) as address:
        finished = (await ask(address))[-1]

    assert isinstance(finished, Finished)
    assert dict(finished.message.calls[0].arguments) == {}
    assert finished.message.calls[0].broken is None


async def test_calls_with_the_same_id_are_told_apart() -> None:
    body = stream(tool('{"a": 1}', index=0, id="same"), tool('{"a": 2}', index=1, id="same"))
    async with answering(body) as address:
        finished = (await ask(address))[-1]

    assert isinstance(finished, Finished)
    first, second = finished.message.calls
    assert first.id != second.id
    assert (first.arguments["a"], second.arguments["a"]) == (1, 2)


async def test_two_calls_without_an_index_stay_two() -> None:
    body = stream(tool('{"a": 1}', id="x"), tool('{"a": 2}', id="y"))
    async with answering(body) as address:
        finished = (await ask(address))[-1]

    assert isinstance(finished, Finished)
    assert [call.arguments["a"] for call in finished.message.calls] == [1, 2]


async def test_a_server_that_does_not_stream_is_understood() -> None:
    message = {"role": "assistant", "content": "hello", "tool_calls": None}
    document = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}}
    async with answering(json.dumps(document).encode(), "application/json") as address:
        finished = (await ask(address))[-1]

    assert isinstance(finished, Finished)
    assert (finished.message.text, finished.usage.input) == ("hello", 3)


async def test_an_error_in_the_stream_is_told() -> None:
    body = b'data: {"error": {"message": "the model fell over"}}\n\n'
    async with answering(body) as address:
        with pytest.raises(ModelError, match="the model fell over"):
            await ask(address)


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (
            "400 Bad Request",
            b'{"error": {"code": "context_length_exceeded", "message": "m"}}',
            ContextTooLong,
        ),
        ("413 Too Large", b"", ContextTooLong),
        ("503 Unavailable", b"<html>busy</html>", ModelBusy),
        ("400 Bad Request", b'{"error": "no such option"}', ModelError),
        ("200 OK", b"data: this is no JSON\n\n", ModelError),
        ("200 OK", b"", AnswerCut),
    ],
)
async def test_what_goes_wrong_has_a_name(status: str, body: bytes, error: type[ModelError]) -> None:
    async with answering(body, status=status) as address:
        with pytest.raises(ModelError) as caught:
            await ask(address)

    assert type(caught.value) is error


async def test_an_address_where_nobody_is_is_told() -> None:
    with pytest.raises(ModelUnreachable, match="cannot be reached"):
        await ask("http://127.0.0.1:9/v1")


async def test_calls_with_the_same_index_and_other_ids_are_kept_apart() -> None:
    begun = tool('{"a": ', index=0, id="one")
    more = {"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}
    async with answering(stream(begun, more, tool('{"a": 2}', index=0, id="two"))) as address:
        finished = (await ask(address))[-1]

    assert isinstance(finished, Finished)
    found = [(call.id, dict(call.arguments)) for call in finished.message.calls]
    assert found == [("one", {"a": 1}), ("two", {"a": 2})]


def piece(name: str | None, arguments: str, **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{"function": {"name": name, "arguments": arguments}, **more}]}


@pytest.mark.parametrize(
    "pieces",
    [
        [piece("a", '{"x": 1}', index=0), piece("b", '{"x": 2}', index=0)],
        [
            piece("a", "", id="1"),
            piece("b", "", id="2"),
            piece(None, '{"x": 1}', id="1"),
            piece(None, '{"x": 2}', id="2"),
        ],
        [piece("a", '{"x"', id="1"), piece("a", ": 1}", id="1"), piece("b", '{"x": 2}', id="2")],
        [piece("a", "", index="0"), piece("b", '{"x": 2}', index="1"), piece(None, '{"x": 1}', index="0")],
    ],
)
async def test_pieces_of_calls_belong_to_their_call(pieces: list[dict[str, Any]]) -> None:
    async with answering(stream(*pieces)) as address:
        finished = (await ask(address))[-1]

    assert isinstance(finished, Finished)
    calls = [(call.name, dict(call.arguments)) for call in finished.message.calls]
    assert calls == [("a", {"x": 1}), ("b", {"x": 2})]


@pytest.mark.parametrize(
    "error", [{"object": "error", "message": "out of memory", "code": 500}, {"detail": "out of memory"}]
)
async def test_an_error_in_the_stream_without_its_key_is_no_end(error: dict[str, Any]) -> None:
    body = stream({"content": "Half"}, end=None, done=False) + f"data: {json.dumps(error)}\n\n".encode()
    async with answering(body + b"data: [DONE]\n\n") as address:
        with pytest.raises(ModelError, match="out of memory"):
            await ask(address)


async def test_a_usage_inside_the_choice_is_counted() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 4}
    chunk = {"choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop", "usage": usage}]}
    async with answering(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()) as address:
        finished = (await ask(address))[-1]

    assert isinstance(finished, Finished)
    assert (finished.usage.input, finished.usage.output, finished.usage.cached) == (10, 2, 4)
