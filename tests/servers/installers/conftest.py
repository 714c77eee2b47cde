"""Installations in a temporary home, and a way to call what was installed."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.servers.installers.packages import environment
from toolcrib.config.entries import parse_entry
from toolcrib.servers.connector import Connector
from toolcrib.servers.installers.engine.contract import CommandRunner
from toolcrib.servers.installers.engine.installations import Installations
from toolcrib.servers.processes.guard import guard_processes

Tell = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
def environ() -> dict[str, str]:
    """The environment of the installers: ours, with caches of the tests' own."""
    return environment()


@pytest.fixture
def installations(tmp_path: Path, environ: dict[str, str]) -> Installations:
    """The installed servers of an empty home."""
    home = tmp_path / "home"
    return Installations(
        installs=home / "data" / "servers", cache=home / "cache", runner=CommandRunner(environ=environ)
    )


@pytest.fixture
def tool_catalog(tmp_path: Path, environ: dict[str, str]) -> Path:
    """The only place where packages come from: named in pip's words, as people do."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    for name in list(environ):
        if name.startswith(("UV_", "PIP_")) and name != "UV_CACHE_DIR":
            del environ[name]
    environ |= {"PIP_CONFIG_FILE": "/dev/null", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder)}
    return folder


@pytest.fixture
def tell(installations: Installations, tmp_path: Path) -> Tell:
    """Starts the server as the entry says, and returns what its one tool tells."""

    async def call(name: str, entry: dict[str, Any], tool: str = "tell") -> dict[str, Any]:
        async with guard_processes(tmp_path / "hosts") as guard:
            connector = Connector(
                guard=guard,
                environ={"PATH": "/usr/bin:/bin"},
                secret=lambda secret: f"value of {secret}",
                log_path=lambda server: tmp_path / f"{server}.log",
                installs=installations.installs,
            )
            async with connector.open_session(parse_entry(name, entry)) as session:
                result = await session.call_tool(tool, {}, timeout=30)
        found: dict[str, Any] = json.loads(result["content"][0]["text"])
        return found

    return call
