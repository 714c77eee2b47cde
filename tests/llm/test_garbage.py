"""Whatever a vendor sends, only documented errors come of it, and every vendor takes the chat after it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.llm.wire import anthropic, faithful, gemini, ollama, openai_chat, openai_responses
from tests.llm.wire.script import Say, call
from toolcrib.agent.chat import answered
from toolcrib.agent.entry_json import message_json
from toolcrib.agent.results import show_error
from toolcrib.errors import InvalidArguments, ModelError
from toolcrib.llm.context import ModelContext
from toolcrib.llm.history import acceptable
from toolcrib.llm.json_values import encode, is_valid, made_valid
from toolcrib.llm.model import CompletionRequest, Finished
from toolcrib.llm.providers import anthropic as anthropic_provider
from toolcrib.llm.providers import gemini as gemini_provider
from toolcrib.llm.providers import ollama as ollama_provider
from toolcrib.llm.providers import openai as openai_provider
from toolcrib.llm.providers import openai_responses as responses_provider
from toolcrib.llm.stream_reader import read_arguments
from toolcrib.schema.messages import FromModel, FromTools, FromUser, Message, Text, ToolAnswer

QUESTION = FromUser(parts=(Text("go"),))
TOOL = {"name": "add", "description": "Add.", "input_schema": {"type": "object"}}
CONTEXT = ModelContext(
    environ={
        "ANTHROPIC_API_KEY": "key-of-anthropic",
        "OPENAI_API_KEY": "key-of-openai",
        "GEMINI_API_KEY": "key-of-gemini",
        "OLLAMA_HOST": "127.0.0.1:9",
    },
    retries=0,
)
VENDORS: dict[ModuleType, Any] = {
    anthropic: anthropic_provider.Messages("claude-test", CONTEXT),
    openai_chat: openai_provider.Completions("gpt-test", CONTEXT, openai_provider.VENDOR),
    openai_responses: responses_provider.Responses("gpt-5-test", CONTEXT),
    gemini: gemini_provider.GenerateContent("gemini-test", CONTEXT),
    ollama: ollama_provider.OllamaChat("tiny", CONTEXT),
}
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(
        ["functions.echo", "x" * 200, "tool_use", "length", "\ud800", "call_1", '{"a": NaN}', "{"]
    )
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


def faithful_pieces(protocol: ModuleType) -> list[dict[str, Any]]:
    """The pieces of two good answers."""
    steps = [call(("add", {"a": 1}), ("add", {"b": [1, {"c": 2}]}), saying="One moment."), Say("Done.")]
    written = [piece for step in steps for piece in protocol.write(step, 1)]
    texts = [one.decode().partition("data: ")[2] or one.decode() for one in written]
    return [json.loads(text) for text in texts if "[DONE]" not in text]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where a value stands in a piece, all of them."""
    found = [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in items:
        found += places(one, (*path, key))
    return found


def spoiled(piece: Any, path: tuple[Any, ...], other: Any) -> Any:
    """The piece with another value in one place."""
    if not path:
        return other
    copy = dict(piece) if isinstance(piece, dict) else list(piece)
    copy[path[0]] = spoiled(piece[path[0]], path[1:], other)
    return copy


@st.composite
def streams(draw: st.DrawFn, protocol: ModuleType) -> list[Any]:
    """Good answers of which some pieces are spoiled, left out, repeated, or replaced by something else."""
    pieces: list[Any] = list(faithful_pieces(protocol))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(pieces) - 1))
        what = draw(st.sampled_from(["spoil", "drop", "repeat", "replace"]))
        if what == "spoil":
            path = draw(st.sampled_from(places(pieces[at])))
            pieces[at] = spoiled(pieces[at], path, draw(JSON))
        elif what == "drop" and len(pieces) > 1:
            del pieces[at]
        elif what == "repeat":
            pieces.insert(at, pieces[at])
        else:
            pieces[at] = draw(st.dictionaries(st.text(max_size=6), JSON, max_size=3))
    return pieces


def read(protocol: ModuleType, pieces: list[Any]) -> FromModel | None:
    """The message that comes of the pieces; None where only a documented error does."""
    reader = VENDORS[protocol].reader()
    try:
        for piece in pieces:
            if isinstance(piece, dict):
                for event in reader.take(piece):
                    encode(vars(event))
        reader.rest()
    except ModelError:
        return None
    finished = reader.builder.finish()
    assert isinstance(finished, Finished)
    usage = finished.usage
    assert 0 <= usage.cached <= usage.input
    assert usage.output >= 0
    return finished.message


def told(message: FromModel) -> list[Message]:
    """The chat after it, every call with an answer."""
    answers = [
        ToolAnswer(
            id=use.id,
            name=use.name,
            parts=show_error(use.name, InvalidArguments("no such tool"), "invalid"),
            outcome="invalid",
        )
        for use in message.calls
    ]
    rest: list[Message] = [FromTools(answers=tuple(answers))] if answers else []
    return answered([QUESTION, message, *rest, QUESTION])


async def complaints(protocol: ModuleType, messages: list[Message]) -> list[str]:
    """What a vendor would refuse of the next request."""
    speech = VENDORS[protocol]
    request = CompletionRequest(
        messages=acceptable(messages, speech.limits), system="Be brief.", tools=[TOOL]
    )
    outgoing = await speech.vendor_request(request)
    body = faithful.read(encode(outgoing.body))
    headers = {key.lower(): value for key, value in outgoing.headers.items()}
    found: list[str] = protocol.check(body, headers)
    return [one for one in found if one != "headers" and "signature back" not in one]


async def all_complaints(messages: list[Message]) -> dict[str, list[str]]:
    """What each vendor would refuse."""
    found = {protocol.name: await complaints(protocol, messages) for protocol in VENDORS}
    return {name: wrong for name, wrong in found.items() if wrong}


@pytest.mark.parametrize("protocol", VENDORS, ids=lambda one: one.name)
@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_garbage_raises_documented_errors_only_and_leaves_a_chat_for_every_vendor(
    protocol: ModuleType, data: st.DataObject
) -> None:
    message = read(protocol, data.draw(streams(protocol)))
    if message is None:
        return
    json.dumps(message_json(message), allow_nan=False, ensure_ascii=False).encode()
    assert asyncio.run(all_complaints(told(message))) == {}


@given(
    st.binary(max_size=300)
    | st.text(max_size=200).map(lambda text: f"data: {text}\n\n".encode("utf-8", "replace"))
)
@settings(max_examples=25)
def test_bytes_without_any_sense_raise_documented_errors_only(body: bytes) -> None:
    asyncio.run(_asked(body))


async def _asked(body: bytes) -> None:
    async with _answering(body) as address:
        model = openai_provider.open_model("odd", ModelContext(environ={}, address=address, retries=0))
        try:
            with pytest.raises(ModelError):
                await asyncio.wait_for(_read_all(model), 60)
        finally:
            await model.close()


async def _read_all(model: Any) -> None:
    async for _ in model.stream(CompletionRequest(messages=[QUESTION])):
        pass


@asynccontextmanager
async def _answering(body: bytes) -> AsyncIterator[str]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {len(body)}\r\n"
        writer.write(f"{head}Connection: close\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


@given(JSON)
def test_everything_can_be_written_as_valid_json(value: Any) -> None:
    assert is_valid(made_valid(value))
    faithful.read(encode({"value": value}))


@pytest.mark.parametrize("depth", [65, 5000, 200_000])
def test_arguments_that_are_nested_without_end_are_broken(depth: int) -> None:
    found, broken = read_arguments('{"a": ' + "[" * depth + "]" * depth + "}")

    assert found == {}
    assert broken is not None
