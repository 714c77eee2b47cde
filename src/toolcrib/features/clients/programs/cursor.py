"""Cursor: the servers of all projects."""

from __future__ import annotations

from toolcrib.features.clients.files import jsonc
from toolcrib.features.clients.files.client import McpClient
from toolcrib.features.clients.transfer.dialect import Dialect

client = McpClient(
    title="Cursor",
    syntax=jsonc,
    table=("mcpServers",),
    file=lambda folders: folders.home / ".cursor" / "mcp.json",
    expands=True,
    afterwards="It takes effect at once; Cursor lists it in its settings, under MCP.",
    dialect=Dialect(types={"sse": "sse"}, variable="${env:NAME}"),
    project=(".cursor/mcp.json",),
)
