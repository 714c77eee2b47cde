"""Cursor: the servers of all projects."""

from __future__ import annotations

from toolcrib.config.client_files import jsonc
from toolcrib.config.client_files.client import McpClient
from toolcrib.config.transfer.dialect import Dialect

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
