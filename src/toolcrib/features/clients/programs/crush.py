"""Crush: `crush.json`, which it reads beside the shell script `crushrc`."""

from __future__ import annotations

from pathlib import Path

from toolcrib.features.clients.files import jsonc
from toolcrib.features.clients.files.client import McpClient
from toolcrib.features.clients.files.gateway import UserFolders
from toolcrib.features.clients.transfer.dialect import Dialect, Timer


def _file(folders: UserFolders) -> Path:
    return (folders.named("CRUSH_GLOBAL_CONFIG") or folders.config / "crush") / "crush.json"


client = McpClient(
    title="Crush",
    syntax=jsonc,
    table=("mcp",),
    file=_file,
    expands=True,
    afterwards="It takes effect when Crush is started again.",
    dialect=Dialect(
        types={"stdio": "stdio", "http": "http", "sse": "sse"},
        bare=True,
        off="disabled",
        start=(Timer(key="timeout"),),
        exclude="disabled_tools",
    ),
    project=("crush.json", ".crush.json"),
)
