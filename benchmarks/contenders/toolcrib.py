"""Ours, through the full door: resolve, validate, gate, deadline, record; the host with all it brings."""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from benchmarks.contract import Call, Suite, Target

TITLE = "toolcrib"
SUITE: Suite = "stdio"
ROLE = ""
LOOP: Literal["asyncio", "uvloop"] = "asyncio"


def entry(target: Target) -> dict[str, Any]:
    """The small server as a config file names it."""
    if target.url:
        return {"type": "http", "url": target.url}
    program, *arguments = target.command
    return {"command": program, "args": arguments}


@asynccontextmanager
async def connect(target: Target) -> AsyncIterator[Call]:
    """A host on a home of its own, recording as always."""
    from toolcrib import open_host

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "mcp.json").write_text(json.dumps({"mcpServers": {"tiny": entry(target)}}))
        async with open_host(home=home, trust_config=True) as host:
            await host.ready()

            async def call(tool: str, arguments: dict[str, Any]) -> Any:
                return await host.call(f"tiny__{tool}", arguments)

            yield call
