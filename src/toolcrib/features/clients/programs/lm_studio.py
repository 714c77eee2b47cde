"""LM Studio: `mcp.json` in its own folder, which older installations on macOS have below `~/.cache`."""

from __future__ import annotations

from dataclasses import replace

from toolcrib.features.clients.files import jsonc
from toolcrib.features.clients.files.client import McpClient
from toolcrib.features.clients.transfer.dialect import Dialect

_older = McpClient(
    title="LM Studio",
    syntax=jsonc,
    table=("mcpServers",),
    file=lambda folders: folders.home / ".cache" / "lm-studio" / "mcp.json",
    afterwards="It takes effect when LM Studio is started again.",
    # It removes keys that it does not know, such as `type`, when it saves the file.
    dialect=Dialect(fills=False),
    other_names=("lmstudio",),
)
client = replace(_older, file=lambda folders: folders.home / ".lmstudio" / "mcp.json", older=_older)
