"""What a bundled server loads before its first answer; each module costs every start."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"mcp", "mcp_types", "pydantic", "httpx2", "starlette", "rich", "keyring", "anyio", "click"}
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
PROBE = """
import asyncio, json, sys
from toolcrib.bundled import {name} as module
import toolcrib.serverkit.stdio
server = module.create(sys.argv[1:])
message = {{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {{"_meta": {meta!r}}}}}
asyncio.run(server.respond(message, print))
print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}})))
"""


@pytest.mark.parametrize("name", ["demo", "filesystem"])
def test_a_bundled_server_lists_its_tools_without_anything_heavy(name: str, tmp_path: Path) -> None:
    arguments = [str(tmp_path)] if name == "filesystem" else []
    code = PROBE.format(name=name, meta=MODERN)
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, check=True, timeout=30
    )
    assert HEAVY.isdisjoint(json.loads(done.stdout))
