"""Claude Desktop: servers that it starts; those with an address are added in the application itself."""

from __future__ import annotations

from toolcrib.features.clients.files import jsonc
from toolcrib.features.clients.files.client import McpClient
from toolcrib.features.clients.transfer.dialect import Dialect

client = McpClient(
    title="Claude Desktop",
    syntax=jsonc,
    table=("mcpServers",),
    file=lambda folders: folders.applications / "Claude" / "claude_desktop_config.json",
    afterwards="It takes effect when Claude Desktop is quit and started again.",
    dialect=Dialect(remote=False, fills=False),
)
