"""`toolcrib search-servers`: our list, and a registry that may say anything."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from tests.cli.command_line import CommandLine

GOOD = {
    "servers": [
        {
            "server": {
                "name": "io.github.me/notes",
                "description": "Keeps notes",
                "version": "1.0.0",
                "packages": [
                    {
                        "registryType": "npm",
                        "identifier": "@me/notes",
                        "version": "1.0.0",
                        "environmentVariables": [{"name": "KEY", "isSecret": True, "isRequired": True}],
                    }
                ],
            },
            "_meta": {"x": {"status": "active"}},
        },
        {
            "server": {"name": "gone", "remotes": [{"url": "https://x"}]},
            "_meta": {"x": {"status": "deleted"}},
        },
        {"server": {"name": 7}},
        "rubbish",
    ]
}


@asynccontextmanager
async def registry(answer: Callable[[], bytes]) -> AsyncIterator[tuple[str, list[str]]]:
    """A registry on loopback; gives its address and the requests it got."""
    asked: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        asked.append(head.split(b" ")[1].decode())
        writer.write(answer())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked


def http(body: bytes, status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + body


def set_registry(toolcrib: CommandLine, url: str) -> None:
    toolcrib("servers")
    file = toolcrib.home / "mcp.json"
    file.write_text(json.dumps({**toolcrib.config(), "toolcrib": {"registryUrl": url}}))


def test_the_list_is_searched_without_any_network(toolcrib: CommandLine) -> None:
    found = toolcrib("search-servers", "git", "--json").json

    assert found["servers"][0]["name"] == "git"
    assert found["servers"][0]["reference"] == "pypi:mcp-server-git"
    assert found["servers"][0]["add"].startswith("toolcrib add git")
    assert "mcp-server-time" in toolcrib("search-servers", "time").out
    assert len(toolcrib("search-servers", "-n", "100", "--json").json["servers"]) > 30


async def test_a_registry_is_asked_where_one_is_set(toolcrib: CommandLine) -> None:
    async with registry(lambda: http(json.dumps(GOOD).encode())) as (url, asked):
        set_registry(toolcrib, url)
        answer = await asyncio.to_thread(toolcrib, "search-servers", "notes", "--json")

    listed = [one for one in answer.json["servers"] if one["origin"] == "registry"]
    assert [(one["name"], one["reference"]) for one in listed] == [("notes", "npm:@me/notes@1.0.0")]
    assert listed[0]["env"] == [{"name": "KEY", "about": "", "secret": True, "required": True}]
    assert asked[0].startswith("/v0.1/servers?search=notes")


@pytest.mark.parametrize(
    "answer",
    [
        http(b"{", "200 OK"),
        http(b"[]"),
        http(b"{}", "500 Oops"),
        http(b'{"servers": ["' + b"x" * 5_000_000 + b'"]}'),
        b"not HTTP at all\r\n\r\n",
    ],
    ids=["cut", "list", "error", "huge", "noise"],
)
async def test_a_registry_that_fails_leaves_the_list(toolcrib: CommandLine, answer: bytes) -> None:
    async with registry(lambda: answer) as (url, _):
        set_registry(toolcrib, url)
        found = await asyncio.to_thread(toolcrib, "search-servers", "git", "--json")

    assert found.code == 0
    assert found.json["servers"][0]["name"] == "git"
    assert "could not be searched" in found.json["note"]
