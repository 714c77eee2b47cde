"""The server side of the official suite: a server passes no more alone than through the gateway.

The server is made with the official SDK and speaks both eras. Behind the gateway it is a program that the
gateway starts, in the era of the client, and for older clients in the newer one as well.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.conformance.scoring import Check, score
from tests.real_servers.node import ROOT

LEAST = {"2025-11-25": (33, 80), "2026-07-28": (40, 150)}
"""Scenarios and checks of each version: a suite that finds nothing to check proves nothing."""

EVERYTHING = ["-m", "tests.conformance.everything"]
TOOLS = 20
PATIENCE = 60.0

# What a server may do and the gateway does not: answer with an event stream when there is nothing to say but
# the answer, and close a stream before the answer, to be asked for the rest. The suite counts them only for
# those that do.
OPTIONAL = {
    Check("server-server-sse-multiple-streams", "server-sse-streams-functional"),
    Check("server-server-sse-polling", "server-sse-priming-event"),
    Check("server-server-sse-polling", "server-sse-retry-field"),
    Check("server-server-sse-polling", "server-sse-disconnect-resume"),
}


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
def gateway(home: Path, era: str) -> Iterator[str]:
    """The gateway in front of the same server; yields its address."""
    home.mkdir()
    entry = {"command": sys.executable, "args": [*EVERYTHING, "stdio"], "cwd": str(ROOT), "era": era}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": {"everything": entry}}))
    with running("-m", "toolcrib", "--home", str(home), "--json", "serve", "--plain-names") as line:
        yield json.loads(line)["url"]


async def until_listed(url: str) -> None:
    """The suite asks at once; a server that is still starting has no tools yet."""
    async with Client(streamable_http_client(url)) as client:
        while len((await client.list_tools(cache_mode="bypass")).tools) < TOOLS:
            pass


@pytest.mark.parametrize(
    ("version", "era"), [("2025-11-25", "legacy"), ("2025-11-25", "modern"), ("2026-07-28", "modern")]
)
async def test_the_gateway_passes_whatever_the_server_passes_alone(version, era, tmp_path):
    with running(*EVERYTHING, "http") as url:
        alone = score(url, version, tmp_path / "alone")
    with gateway(tmp_path / "home", era) as url:
        await until_listed(url)
        through = score(url, version, tmp_path / "through")

    scenarios, checks = LEAST[version]
    assert len(alone.scenarios) >= scenarios, alone.report
    assert alone.passed.total() >= checks, alone.report
    assert not alone.failed, alone.report
    assert not through.failed, through.report
    assert set(alone.passed - through.passed) <= OPTIONAL, through.report
