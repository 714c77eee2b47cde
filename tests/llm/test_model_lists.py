"""Vendors are asked for their lists of models, which are put into an order and remembered."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.asgi_server import serving
from toolcrib.clock import SystemClock
from toolcrib.config.settings import AgentSettings
from toolcrib.errors import ModelError, ModelKeyRefused, ModelUnreachable, NoModel
from toolcrib.llm import http
from toolcrib.llm.context import ModelContext
from toolcrib.llm.model_lists import REMEMBERED, ListedModel, is_chat_model
from toolcrib.llm.models import ModelRegistry

KEY = "key-of-the-test"
ANTHROPIC = {
    "data": [
        {"type": "model", "id": "claude-haiku-5-5", "created_at": "2026-08-01T00:00:00Z"},
        {"type": "model", "id": "claude-sonnet-5-5", "created_at": "2026-07-01T00:00:00Z"},
        {
            "type": "model",
            "id": "claude-of-tomorrow",
            "created_at": "2026-11-01T00:00:00Z",
            "max_input_tokens": 2_000_000,
        },
    ],
    "has_more": False,
}
GEMINI = {
    "models": [
        {
            "name": "models/gemini-2.5-pro",
            "inputTokenLimit": 1_048_576,
            "supportedGenerationMethods": ["generateContent"],
        },
        {
            "name": "models/gemini-9-flash",
            "inputTokenLimit": 500_000,
            "supportedGenerationMethods": ["generateContent"],
        },
        {"name": "models/gemini-embedding-001", "supportedGenerationMethods": ["embedContent"]},
        {"name": "models/aqa", "supportedGenerationMethods": ["generateAnswer"]},
    ]
}
MIXED = {
    "object": "list",
    "data": [
        {"id": "gpt-4o-2024-08-06", "created": 1_722_000_000},
        {"id": "gpt-4o", "created": 1_715_000_000},
        {"id": "text-embedding-3-large", "created": 1_705_000_000},
        {"id": "whisper-1", "created": 1_677_000_000},
        {"id": "gpt-9", "created": 1_799_000_000},
        {"id": "gpt-4o-realtime-preview", "created": 1_727_000_000},
    ],
}
ROUTER = {
    "data": [
        {
            "id": "some/model",
            "context_length": 262_144,
            "pricing": {"prompt": "0.0000005", "completion": "0.0000015"},
            "architecture": {"output_modalities": ["text"]},
        },
        {"id": "some/painter", "architecture": {"output_modalities": ["picture"]}},
        {"id": "some/judge", "capabilities": {"completion_chat": False}},
    ]
}
TOGETHER = [
    {"id": "meta/chat", "type": "chat", "pricing": {"input": 3.5, "output": 4}},
    {"id": "meta/other", "type": "moderation"},
]


@dataclass
class Listing:
    """A vendor that lists its models to those who have the key."""

    document: Any
    header: str = "authorization"
    value: str = f"Bearer {KEY}"
    asked: list[str] = field(default_factory=list)
    address: str = ""

    async def answer(self, request: Request) -> Response:
        self.asked.append(str(request.url).removeprefix(self.address))
        if request.headers.get(self.header) != self.value:
            return JSONResponse({"error": {"message": "no such key"}}, 401)
        return self.document if isinstance(self.document, Response) else JSONResponse(self.document)


@asynccontextmanager
async def listing(
    document: Any, header: str = "authorization", value: str = f"Bearer {KEY}"
) -> AsyncIterator[Listing]:
    found = Listing(document, header, value)
    paths = ("/v1/models", "/v1beta/models")
    async with serving(Starlette(routes=[Route(path, found.answer) for path in paths])) as address:
        found.address = address
        yield found


def registry(environ: Mapping[str, str], **settings: object) -> ModelRegistry:
    return ModelRegistry(ModelContext(environ=environ), AgentSettings.read(settings))


async def router_of(document: Any, **settings: object) -> tuple[ListedModel, ...]:
    """What a compatible server's list becomes."""
    async with listing(document) as vendor:
        endpoint = {"url": f"{vendor.address}/v1", "key": "ROUTER_KEY"}
        models = registry({"ROUTER_KEY": KEY}, endpoints={"router": endpoint}, **settings)
        return await models.listed("router")


async def test_anthropic_lists_its_models_the_usual_one_first_then_the_newest() -> None:
    async with listing(ANTHROPIC, "x-api-key", KEY) as vendor:
        models = registry({"ANTHROPIC_BASE_URL": vendor.address, "ANTHROPIC_API_KEY": KEY})
        found = await models.listed("anthropic")

    assert [model.name for model in found] == ["claude-sonnet-5-5", "claude-of-tomorrow", "claude-haiku-5-5"]
    assert (found[1].context, found[1].created) == (2_000_000, "2026-11-01")
    assert vendor.asked == ["/v1/models?limit=1000"]


async def test_gemini_lists_what_generates_content() -> None:
    async with listing(GEMINI, "x-goog-api-key", KEY) as vendor:
        models = registry({"GEMINI_BASE_URL": vendor.address, "GEMINI_API_KEY": KEY})
        found = await models.listed("gemini")

    assert [(model.name, model.context) for model in found] == [
        ("gemini-2.5-pro", 1_048_576),
        ("gemini-9-flash", 500_000),
    ]


async def test_a_compatible_list_loses_what_does_not_chat_and_old_dates_come_last() -> None:
    found = await router_of(MIXED)

    assert [model.name for model in found] == ["gpt-9", "gpt-4o", "gpt-4o-2024-08-06"]
    assert found[0].created == "2027-01-03"


async def test_a_list_tells_context_and_prices() -> None:
    (model,) = await router_of(ROUTER)
    assert (model.name, model.context, model.input, model.output) == ("some/model", 262_144, 0.5, 1.5)

    (model,) = await router_of(TOGETHER)
    assert (model.name, model.context, model.input, model.output) == ("meta/chat", None, 3.5, 4)


async def test_own_prices_take_precedence_and_a_list_price_is_only_for_the_vendor_itself() -> None:
    own = {"router:some/": {"input": 7, "output": 8}}
    (model,) = await router_of(ROUTER, prices=own)
    assert (model.input, model.output) == (7, 8)

    (model,) = await router_of({"data": [{"id": "gpt-4o"}]})
    assert (model.context, model.input) == (None, None)

    known = {model.name: model for model in registry({}).known("openai")}
    assert (known["gpt-4o"].context, known["gpt-4o"].input) == (128_000, 2.5)
    assert next(iter(known)) == "gpt-6.1-sol"


@pytest.mark.parametrize(
    ("name", "chats"),
    [
        ("gpt-5-mini", True),
        ("Qwen2.5-7B-Instruct", True),
        ("o3", True),
        ("gemini-3.8-flash-lite", True),
        ("text-embedding-nomic-embed-text-v1.5", False),
        ("dall-e-3", False),
        ("gemini-2.5-flash-image", False),
        ("tts-1", False),
        ("gpt-4o-audio-preview", False),
        ("gemini-live-2.5-flash", False),
        ("llama-guard-4", False),
    ],
)
def test_only_names_of_chat_models_are_suggested(name: str, chats: bool) -> None:
    assert is_chat_model(name) is chats


@dataclass
class Watch(SystemClock):
    """A clock that is turned by hand."""

    seconds: float = 1000.0

    def monotonic(self) -> float:  # type: ignore[override]
        return self.seconds

    def now(self) -> datetime:
        return datetime.now(UTC)


async def test_a_list_is_remembered_for_an_hour() -> None:
    watch = Watch()
    async with listing(MIXED) as vendor:
        environ = {"OPENAI_BASE_URL": f"{vendor.address}/v1", "OPENAI_API_KEY": KEY}
        models = ModelRegistry(ModelContext(environ=environ, clock=watch), AgentSettings())
        for seconds in (0, REMEMBERED - 1, 2):
            watch.seconds += seconds
            await models.listed("openai")
        assert len(vendor.asked) == 2
        await models.listed("openai", again=True)
        assert len(vendor.asked) == 3


async def test_a_key_that_is_refused_and_one_that_is_missing_are_told() -> None:
    async with listing(MIXED) as vendor:
        environ = {"OPENAI_BASE_URL": f"{vendor.address}/v1", "OPENAI_API_KEY": "wrong"}
        with pytest.raises(ModelKeyRefused, match="OPENAI_API_KEY, 401"):
            await registry(environ).listed("openai")
    with pytest.raises(ModelKeyRefused, match="no API key for Anthropic"):
        await registry({}).listed("anthropic")


@pytest.mark.parametrize(
    "document", [Response("<html>"), Response("x" * 9), {"data": "no list"}, {}, Response("{")]
)
async def test_what_is_no_list_of_models_is_an_error(document: Any) -> None:
    with pytest.raises(ModelError, match="router"):
        await router_of(document)


async def test_a_list_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "LARGEST_DOCUMENT", 1000)
    with pytest.raises(ModelError, match="more than 1,000 bytes"):
        await router_of({"data": [{"id": "x" * 2000}]})


async def test_an_address_where_nothing_listens_and_an_unknown_name_are_told() -> None:
    endpoint = {"url": "http://127.0.0.1:9/v1"}
    with pytest.raises(ModelUnreachable, match="here cannot be reached"):
        await registry({}, endpoints={"here": endpoint}).listed("here")
    with pytest.raises(NoModel):
        await registry({}).listed("nobody")
    with pytest.raises(ModelUnreachable, match="Ollama does not answer"):
        await registry({"OLLAMA_HOST": "127.0.0.1:9"}).listed("ollama")


async def test_an_address_of_ones_own_never_gets_the_vendors_key() -> None:
    async with listing(MIXED) as vendor:
        endpoint = {"url": f"{vendor.address}/v1"}
        models = registry({"OPENAI_API_KEY": KEY}, endpoints={"here": endpoint})
        with pytest.raises(ModelKeyRefused):
            await models.listed("here")


def test_openai_is_asked_by_the_protocol_that_a_model_needs() -> None:
    models = registry({})

    assert (models.get("openai:gpt-6.1-sol").form, models.get("openai:gpt-6.1-sol").name) == (
        "openai-responses",
        "openai:gpt-6.1-sol",
    )
    assert models.get("openai:gpt-5-codex").form == "openai-responses"
    assert models.get("openai:gpt-5-mini").form == "openai"
    elsewhere = registry({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})
    assert elsewhere.get("openai:gpt-6.1-sol").form == "openai"
