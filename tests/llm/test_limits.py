"""A model that is not known is looked up at its vendor; else its limits are assumed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.asgi_server import serving
from tests.llm.wire import anthropic, gemini, openai_chat
from toolcrib.config.settings import PriceSettings
from toolcrib.errors import ModelBusy, NoModel
from toolcrib.llm.context import ModelContext, ModelVendor
from toolcrib.llm.models import find_provider
from toolcrib.llm.prices import own_cost
from toolcrib.llm.vendor_errors import translate
from toolcrib.schema.messages import Usage

ROUTER = {"id": "some/model", "context_length": 262_144}


@asynccontextmanager
async def listing(path: str, document: dict[str, Any]) -> AsyncIterator[str]:
    """A vendor that describes its models at this path."""

    async def answer(request: Request) -> JSONResponse:
        return JSONResponse(document)

    app = Starlette(routes=[Route(path, answer)])
    async with serving(app) as address:
        yield address


@pytest.mark.parametrize(
    ("protocol", "model", "path", "document", "context", "output"),
    [
        (
            anthropic,
            "claude-of-tomorrow",
            "/v1/models/claude-of-tomorrow",
            {"id": "claude-of-tomorrow", "max_input_tokens": 2_000_000, "max_tokens": 256_000},
            2_000_000,
            256_000,
        ),
        (
            gemini,
            "gemini-9",
            "/v1beta/models/gemini-9",
            {"name": "models/gemini-9", "inputTokenLimit": 500_000, "outputTokenLimit": 9000},
            500_000,
            9000,
        ),
        (openai_chat, "some/model", "/v1/models", {"data": [{"id": "x"}, ROUTER]}, 262_144, None),
        (
            openai_chat,
            "mine",
            "/v1/models",
            {"data": [{"id": "mine", "max_input_tokens": 64_000}]},
            64_000,
            None,
        ),
    ],
)
async def test_the_vendor_tells_the_limits_of_a_model_that_is_not_known(
    protocol: ModuleType, model: str, path: str, document: Any, context: int, output: int | None
) -> None:
    async with listing(path, document) as base:
        environ = {protocol.variable: protocol.address(base), protocol.key: "k"}
        opened = find_provider(protocol.name).open_model(model, ModelContext(environ=environ))
        traits = await opened.traits()
        await opened.close()

    assert (traits.context_tokens, traits.max_output, traits.assumed) == (context, output, False)


@pytest.mark.parametrize(
    ("protocol", "context"), [(anthropic, 200_000), (gemini, 128_000), (openai_chat, 128_000)]
)
async def test_limits_that_nobody_tells_are_assumed(protocol: ModuleType, context: int) -> None:
    async with listing("/nothing", {}) as base:
        environ = {protocol.variable: protocol.address(base), protocol.key: "k"}
        opened = find_provider(protocol.name).open_model("nobody-knows", ModelContext(environ=environ))
        traits = await opened.traits()
        await opened.close()

    assert (traits.context_tokens, traits.assumed) == (context, True)


@pytest.mark.parametrize(("told", "context"), [(8192, 8192), (None, 128_000)])
async def test_a_model_that_somebody_else_serves_has_their_limits_and_no_list_price(
    told: int | None, context: int
) -> None:
    async with listing("/v1/models", {"data": [{"id": "gpt-4o", "max_model_len": told}]}) as base:
        environ = {openai_chat.variable: openai_chat.address(base)}
        opened = find_provider(openai_chat.name).open_model("gpt-4o", ModelContext(environ=environ))
        traits = await opened.traits()
        await opened.close()

    assert (traits.context_tokens, traits.list_price) == (context, False)
    own = {"openai:": PriceSettings(input=1, output=1)}
    assert own_cost(opened.name, Usage(input=1_000_000), {}) is None
    assert own_cost(opened.name, Usage(input=1_000_000), own) == 1


def test_a_long_wait_is_told_in_seconds() -> None:
    error = translate(ModelVendor(name="x", title="X"), "", 429, {"retry-after": "90"}, "slow down")

    assert isinstance(error, ModelBusy)
    assert error.hint == "Try again in 90 s."


def test_a_model_that_ollama_lacks_can_be_pulled() -> None:
    vendor = ModelVendor(name="ollama", title="Ollama")
    error = translate(vendor, "", 404, {}, '{"error": "model \'qwen3:8b\' not found"}')

    assert isinstance(error, NoModel)
    assert error.hint == "Install it with: ollama pull qwen3:8b"
