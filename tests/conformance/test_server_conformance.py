"""The server side of the official suite: a server passes no more alone than through the gateway.

The server is made with the official SDK and speaks both eras. Behind the gateway it is reached over HTTP, or
is a program that the gateway starts, in the era of the client and in the other one.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.conformance.scoring import Check, Score, score
from tests.real_servers.node import ROOT

pytestmark = [pytest.mark.acceptance, pytest.mark.quiet, pytest.mark.timeout(1000)]

LEAST = {"2025-11-25": (33, 80), "2026-07-28": (40, 150)}
"""Scenarios and checks of each version: a suite that finds nothing to check proves nothing."""

EVERYTHING = ["-m", "tests.conformance.everything"]
TOOLS = 20
PATIENCE = 60.0

# A server over HTTP may close a stream before the answer, to be asked for the rest, and the gateway then does
# the same. One that it runs itself has no stream to close; the suite counts this only for those that do.
HTTP_ONLY = {Check("server-server-sse-polling", "server-sse-disconnect-resume")}
HTTP = "http"


@contextmanager
def running(*arguments: str) -> Iterator[str]:
    """A program that says its address in its first line; yields that line."""
    environ = {**os.environ, "TOOLCRIB_KEYRING": "off", "TOOLCRIB_TRUST_CONFIG": "1"}
    with subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT, env=environ
    ) as program:
        assert program.stdout is not None
        try:
            assert select.select([program.stdout], [], [], PATIENCE)[0], "the program said nothing"
            yield program.stdout.readline().decode().strip()
        finally:
            program.terminate()
            program.wait(30)


@contextmanager
def gateway(home: Path, entry: dict[str, object]) -> Iterator[str]:
    """The gateway in front of one server; yields its address."""
    home.mkdir()
    (home / "mcp.json").write_text(json.dumps({"mcpServers": {"everything": entry}}))
    with running("-m", "toolcrib", "--home", str(home), "--json", "serve", "--plain-names") as line:
        yield json.loads(line)["url"]


async def until_listed(url: str) -> None:
    """The suite asks at once; a server that is still starting has no tools yet."""
    async with Client(streamable_http_client(url)) as client:
        while len((await client.list_tools(cache_mode="bypass")).tools) < TOOLS:
            pass


@pytest.fixture(scope="module")
def direct() -> Iterator[str]:
    """The address of the server itself."""
    with running(*EVERYTHING, "http") as address:
        yield address


@pytest.fixture(scope="module")
def alone(direct: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Score]:
    """What the server passes without a gateway at a protocol version.

    None of our code runs here, so a check that fails once, on a busy machine, is only run again.
    """

    @cache
    def run(version: str) -> Score:
        first = score(direct, version, tmp_path_factory.mktemp("alone"))
        return score(direct, version, tmp_path_factory.mktemp("again")) if first.failed else first

    return run


@pytest.mark.parametrize("version", LEAST)
def test_the_server_passes_alone(version: str, alone: Callable[[str], Score]):
    found = alone(version)

    scenarios, checks = LEAST[version]
    assert not found.failed, found.report
    assert len(found.scenarios) >= scenarios, found.report
    assert found.passed.total() >= checks, found.report


@pytest.mark.parametrize(
    ("version", "back"),
    [("2025-11-25", HTTP), ("2026-07-28", HTTP), ("2025-11-25", "legacy"), ("2025-11-25", "modern")],
)
async def test_the_gateway_passes_whatever_the_server_passes_alone(version, back, direct, alone, tmp_path):
    entry: dict[str, object] = {"type": "http", "url": direct}
    if back != HTTP:
        command = {"command": sys.executable, "args": [*EVERYTHING, "stdio"], "cwd": str(ROOT)}
        entry = {**command, "era": back}
    with gateway(tmp_path / "home", entry) as url:
        await until_listed(url)
        through = score(url, version, tmp_path / "through")

    assert not through.failed, through.report
    missed = set(alone(version).passed - through.passed)
    assert missed <= (set() if back == HTTP else HTTP_ONLY), through.report
