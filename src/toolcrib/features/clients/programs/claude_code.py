"""Claude Code: the user's file, in which it also keeps its state."""

from __future__ import annotations

from pathlib import Path

from toolcrib.features.clients.files import jsonc
from toolcrib.features.clients.files.client import McpClient
from toolcrib.features.clients.files.gateway import Address, Program, UserFolders
from toolcrib.features.clients.transfer.dialect import MILLISECONDS, Dialect, Timer


def _marker(folders: UserFolders) -> Path:
    return folders.named("CLAUDE_CONFIG_DIR") or folders.home / ".claude"


def _command(name: str, gateway: Program | Address) -> list[str]:
    begins = ["claude", "mcp", "add", "--scope", "user"]
    if isinstance(gateway, Address):
        return [*begins, "--transport", "http", name, gateway.url]
    return [*begins, name, "--", gateway.command, *gateway.args]


client = McpClient(
    title="Claude Code",
    syntax=jsonc,
    table=("mcpServers",),
    file=lambda folders: (folders.named("CLAUDE_CONFIG_DIR") or folders.home) / ".claude.json",
    expands=True,
    marker=_marker,
    own_command=_command,
    afterwards="It takes effect in new sessions of Claude Code.",
    dialect=Dialect(
        types={"stdio": "stdio", "http": "http", "sse": "sse"},
        defaults=True,
        call=(Timer(key="timeout", unit=MILLISECONDS),),
    ),
    project=(".mcp.json",),
    inner_tables=lambda folder: (("projects", str(folder), "mcpServers"),),
)
