"""Model servers on this machine are told from other programs by what they answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.asgi_server import serving
from toolcrib.llm import local_servers
from toolcrib.llm.local_servers import LocalServer, find_local_servers

LM_STUDIO = {
    "object": "list",
    "data": [
        {"id": "qwen3-30b", "object": "model", "owned_by": "organization_owner"},
        {"id": "text-embedding-nomic-embed-text-v1.5", "object": "model", "owned_by": "organization_owner"},
    ],
}
LLAMA_CPP = {
    "object": "list",
    "models": [],
    "data": [
        {"id": "/models/tiny.gguf", "object": "model", "owned_by": "llamacpp", "meta": {"n_ctx_train": 8192}}
    ],
}
VLLM = {
    "object": "list",
    "data": [{"id": "meta/llama", "object": "model", "owned_by": "vllm", "max_model_len": 4096}],
}


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy this machine is."""
    monkeypatch.setattr(local_servers, "PATIENCE", 60.0)


@asynccontextmanager
async def program(answer: Any) -> AsyncIterator[str]:
    """Any program that answers at `/v1/models`; the address of its API."""

    async def respond(request: Request) -> Response:
        return answer if isinstance(answer, Response) else JSONResponse(answer)

    async with serving(Starlette(routes=[Route("/v1/models", respond)])) as address:
        yield f"{address}/v1"


async def find(
    *addresses: str, known: tuple[str, ...] = (), taken: tuple[str, ...] = ()
) -> list[LocalServer]:
    return await find_local_servers({local_servers.VARIABLE: ", ".join(addresses)}, known, taken)


@pytest.mark.parametrize(
    ("answer", "name", "title", "models"),
    [
        (LM_STUDIO, "lm-studio", "LM Studio", ("qwen3-30b",)),
        (LLAMA_CPP, "llama-cpp", "llama.cpp", ("/models/tiny.gguf",)),
        (VLLM, "vllm", "vLLM", ("meta/llama",)),
    ],
)
async def test_a_server_is_found_by_what_it_says_of_itself(
    answer: Any, name: str, title: str, models: tuple[str, ...]
) -> None:
    async with program(answer) as address:
        assert await find(address) == [LocalServer(name=name, title=title, address=address, models=models)]


async def test_another_server_with_this_protocol_is_named_after_its_port() -> None:
    async with program({"object": "list", "data": [{"id": "m", "object": "model"}]}) as address:
        (found,) = await find(address)
    assert (found.name, found.title) == (f"local-{address.split(':')[2][:-3]}", "Model server")


@pytest.mark.parametrize(
    "answer",
    [
        {"data": [{"id": "m"}]},
        {"object": "list", "data": []},
        {"object": "list", "data": [{"id": "m", "object": "user"}]},
        {"object": "list", "data": [{"id": 7, "object": "model"}]},
        [{"id": "m", "object": "model"}],
        PlainTextResponse("<html>a development server</html>"),
        JSONResponse(VLLM, 500),
        JSONResponse(VLLM, 401),
        RedirectResponse("https://example.com/v1/models"),
    ],
)
async def test_any_other_program_at_the_port_is_none(answer: Any) -> None:
    async with program(answer) as address:
        assert await find(address) == []


async def test_a_program_that_speaks_no_http_is_none() -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail ready\r\n")
        writer.close()

    mail = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with mail, program(VLLM) as address:
        ports = (mail.sockets[0].getsockname()[1], 9)
        found = await find(*(f"http://127.0.0.1:{port}/v1" for port in ports), address)
    assert [server.name for server in found] == ["vllm"]


async def test_one_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_servers, "PATIENCE", 0.05)
    over = asyncio.Event()

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await over.wait()
        writer.close()

    async with await asyncio.start_server(wait, "127.0.0.1", 0) as mute:
        assert await find(f"http://127.0.0.1:{mute.sockets[0].getsockname()[1]}/v1") == []
        over.set()


async def test_one_that_the_settings_name_is_not_found_again_and_a_taken_name_gets_the_port() -> None:
    async with program(VLLM) as address:
        port = address.split(":")[2][:-3]
        assert await find(address, known=(f"http://localhost:{port}/v1/",)) == []
        (found,) = await find(address, taken=("vllm",))
    assert found.name == f"vllm-{port}"


async def test_nothing_is_looked_at_when_it_is_off() -> None:
    assert local_servers._addresses({}) == local_servers.USUAL
    assert local_servers._addresses({local_servers.VARIABLE: "off"}) == ()
