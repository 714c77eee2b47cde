"""Servers that nobody here wrote, all in one host at once: each is listed, negotiated with and called."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

import toolcrib
from tests.real_servers.catalogue import SERVERS, Npm, RealServer
from tests.real_servers.install import install
from toolcrib.errors import PeerError

# The first run installs the servers, which has a deadline of its own.
pytestmark = [pytest.mark.acceptance, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(900)]
START_DEADLINE = 100.0


def fill(value: Any, work: Path) -> Any:
    """Put the scratch folder in the place of `{work}`, at any depth."""
    if isinstance(value, str):
        return value.replace("{work}", str(work))
    if isinstance(value, dict):
        return {key: fill(inner, work) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [fill(inner, work) for inner in value]
    return value


def entry(server: RealServer, work: Path, *, sandbox: bool) -> dict[str, Any]:
    """The server's entry in `mcpServers`."""
    program, *first = install(server)
    environment = dict(server.env)
    if isinstance(server.source, Npm) and server.source.offline_answer is not None:
        environment["OFFLINE_ANSWER"] = server.source.offline_answer
    command = {"command": program, "args": [*first, *fill(server.args, work)], "env": fill(environment, work)}
    return {**command, "sandbox": {"writable": fill(server.works_in, work)}} if sandbox else command


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "sandboxed"])
def sandbox(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(scope="module")
def works(sandbox: bool, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A scratch folder for each server, with what its call needs."""
    folders = {server.name: tmp_path_factory.mktemp(server.name) for server in SERVERS}
    for server in SERVERS:
        server.prepare(folders[server.name])
    return folders


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def host(
    sandbox: bool, works: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[toolcrib.Host]:
    """One host with all of them."""
    home = tmp_path_factory.mktemp("home")
    servers = {server.name: entry(server, works[server.name], sandbox=sandbox) for server in SERVERS}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    async with toolcrib.open_host(home=home) as opened:
        yield opened


def texts(result: dict[str, Any]) -> Iterator[str]:
    for part in result["content"]:
        yield part.get("text", "")


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.name)
async def test_a_real_server_lists_its_tools_and_answers(
    server: RealServer, host: toolcrib.Host, works: dict[str, Path]
) -> None:
    async with asyncio.timeout(START_DEADLINE):
        await host.servers[server.name].settled()
    status = host.servers.status(server.name)
    assert status.state == toolcrib.ServerState.READY, f"{status.reason} {host.log_lines(server.name, 20)}"
    assert status.era == server.era

    offered = {tool.definition.name: tool for tool in host.tools(server.name)}
    assert len(offered) == status.tools == server.tools

    call = server.call
    try:
        result = await host.call(offered[call.tool].name, fill(dict(call.arguments), works[server.name]))
    except PeerError as error:
        result = {"content": [{"type": "text", "text": error.message}], "isError": True}
    assert call.answer in "\n".join(texts(result))
    assert bool(result.get("isError")) == call.fails


async def test_every_protocol_era_is_among_them() -> None:
    eras = {server.era for server in SERVERS}

    assert eras == {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}
