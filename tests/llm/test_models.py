"""Models are found by name, with the key and the address that hold for them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.llm.wire import openai_chat
from tests.llm.wire.script import Refuse, Say, Script, serving
from toolcrib import plugins
from toolcrib.config.settings import AgentSettings, PriceSettings
from toolcrib.errors import ModelKeyRefused, ModelUnreachable, NoModel
from toolcrib.llm.context import ModelContext, ModelVendor
from toolcrib.llm.model import CompletionRequest, Finished, Model
from toolcrib.llm.models import PROVIDERS, ModelRegistry
from toolcrib.llm.ollama_host import address_of
from toolcrib.llm.prices import cost
from toolcrib.llm.trial import try_model
from toolcrib.llm.vendors import no_model, survey
from toolcrib.schema.messages import FromUser, Text, Usage
from toolcrib.testing.model import ScriptedModel
from toolcrib.tools.formats import FORMATS

QUESTION = CompletionRequest(messages=[FromUser(parts=(Text("go"),))])
NOWHERE = "127.0.0.1:9"


def models(
    environ: dict[str, str] | None = None, secrets: dict[str, str] | None = None, **settings: object
) -> ModelRegistry:
    context = ModelContext(environ=environ or {}, secret=(secrets or {}).get)
    return ModelRegistry(context, AgentSettings.read(settings))


async def answer(model: Model) -> str:
    async with asyncio.timeout(60):
        events = [event async for event in model.stream(QUESTION)]
    await model.close()
    assert isinstance(events[-1], Finished)
    return events[-1].message.text


@pytest.mark.parametrize("module", plugins.names(PROVIDERS))
def test_every_provider_keeps_the_contract(module: str) -> None:
    provider = plugins.find(PROVIDERS, module)
    model = provider.open_model("m", ModelContext(environ={}))

    assert isinstance(provider.VENDOR, ModelVendor)
    assert provider.VENDOR.name.replace("-", "_") == module
    assert model.form in FORMATS


@pytest.mark.parametrize("name", ["", "openai", ":x", "nobody:x"])
def test_a_name_that_leads_nowhere_is_told(name: str) -> None:
    with pytest.raises(NoModel):
        models().get(name)


async def test_a_missing_key_says_where_it_goes() -> None:
    with pytest.raises(ModelKeyRefused, match="no API key for Anthropic") as caught:
        await answer(models().get("anthropic:claude"))

    assert "toolcrib secret set ANTHROPIC_API_KEY" in caught.value.hint


async def test_a_key_may_be_a_secret() -> None:
    script = Script(Say("hello"))
    async with serving(openai_chat, script) as base:
        opened = models({"OPENAI_BASE_URL": f"{base}/v1"}, {"OPENAI_API_KEY": "key-of-openai"})

        assert await answer(opened.get("openai:gpt-test")) == "hello"
    assert script.complaints == []


async def test_any_address_gets_a_name_of_its_own() -> None:
    script = Script(Say("from the studio"))
    async with serving(openai_chat, script) as base:
        endpoint = {"url": f"{base}/v1", "key": "STUDIO_KEY"}
        opened = models(secrets={"STUDIO_KEY": "key-of-openai"}, endpoints={"studio": endpoint})
        model = opened.get("studio:qwen")

        assert model.name == "studio:qwen"
        assert await answer(model) == "from the studio"
    assert script.requests[0]["model"] == "qwen"
    assert script.complaints == []


async def test_an_ollama_address_that_ends_in_v1_speaks_chat_completions() -> None:
    script = Script(Say("hi"))
    async with serving(openai_chat, script) as base:
        environ = {"OLLAMA_BASE_URL": f"{base}/v1", "OLLAMA_API_KEY": "key-of-openai"}

        assert await answer(models(environ).get("ollama:tiny")) == "hi"


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1:1234", "http://127.0.0.1:1234"),
        ("box", "http://box:11434"),
        ("0.0.0.0:1234", "http://127.0.0.1:1234"),
        ("http://box:1/", "http://box:1"),
        ("https://box", "https://box"),
        ("[::1]", "http://[::1]:11434"),
    ],
)
def test_ollamas_host_is_read_as_ollama_reads_it(host: str, address: str) -> None:
    assert address_of(host) == address


@asynccontextmanager
async def an_ollama(capabilities: list[str], asked: list[bytes] | None = None) -> AsyncIterator[str]:
    """One that lists a model, describes it, and lets it say one word; `asked` gets the requests."""
    answers = {
        b"/api/tags": {"models": [{"name": "tiny:latest", "size": 1}]},
        b"/api/chat": {"message": {"role": "assistant", "content": "plain"}, "done": True},
        b"/api/show": {"capabilities": capabilities, "model_info": {"tiny.context_length": 4096}},
    }

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if asked is not None and b"/api/chat" in head:
            asked.append(await reader.readuntil(b"}}"))
        body = json.dumps(answers.get(head.split()[1], {})).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_ollama_is_found_and_says_what_its_models_can_do() -> None:
    async with an_ollama(["completion", "tools"]) as host:
        opened = models({"OLLAMA_HOST": host})
        traits = await opened.get("ollama:tiny").traits()
        found = {offer.vendor: offer for offer in await survey(opened)}
        error = await no_model(opened)

    assert (traits.tools, traits.images, traits.context_tokens) == (True, False, 4096)
    assert found["ollama"].ready
    assert found["ollama"].models == ("tiny:latest",)
    assert "--model ollama:tiny:latest" in error.hint


async def test_an_ollama_model_without_tools_is_offered_none() -> None:
    asked: list[bytes] = []
    tool = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
    async with an_ollama(["completion"], asked) as host:
        model = models({"OLLAMA_HOST": host}).get("ollama:tiny")
        request = CompletionRequest(messages=QUESTION.messages, tools=[tool])
        events = [event async for event in model.stream(request)]
        await model.close()

    assert isinstance(events[-1], Finished)
    assert events[-1].message.text == "plain"
    assert b"tools" not in asked[0]


def test_costs_are_reckoned_by_the_whole_name() -> None:
    usage = Usage(input=1_000_000, output=1_000_000, cached=500_000)

    assert cost("openai:gpt-4o-mini-2024-07-18", usage) == pytest.approx(0.075 + 0.0375 + 0.6)
    assert cost("openai-responses:gpt-4o", usage) == pytest.approx(1.25 + 0.625 + 10)
    assert cost("ollama:anything", usage) == 0
    assert cost("nobody:knows", usage) is None
    assert cost("nobody:knows", usage, {"nobody:": PriceSettings(input=1, output=2)}) == pytest.approx(3)


async def test_a_model_is_tried_out_with_one_word() -> None:
    script = Script(Say("ready"))
    async with serving(openai_chat, script) as base:
        endpoint = {"url": f"{base}/v1", "key": "HERE_KEY"}
        model = models({"HERE_KEY": "key-of-openai"}, endpoints={"here": endpoint}).get("here:m")
        trial = await try_model(model)
        await model.close()

    assert (trial.model, trial.answer) == ("here:m", "ready")
    assert trial.usage.requests == 1


async def test_a_key_that_is_not_taken_is_told_by_the_trial() -> None:
    script = Script(Refuse(401, "no"))
    async with serving(openai_chat, script) as base:
        endpoint = {"url": f"{base}/v1", "key": "HERE_KEY"}
        model = models({"HERE_KEY": "key-of-openai"}, endpoints={"here": endpoint}).get("here:m")
        with pytest.raises(ModelKeyRefused):
            await try_model(model)
        await model.close()


async def test_a_model_that_never_speaks_is_given_up() -> None:
    model = ScriptedModel("one two")
    model.hold = asyncio.Event()

    with pytest.raises(ModelUnreachable, match="did not answer"):
        await try_model(model, timeout=0.01)
