"""GitHub Copilot CLI: every entry lists the tools that it may use, `*` for all."""

from __future__ import annotations

from toolcrib.features.clients.files import jsonc
from toolcrib.features.clients.files.client import Entry, McpClient
from toolcrib.features.clients.transfer.dialect import MILLISECONDS, Dialect, Timer

ALL = ["*"]


def _read(entry: Entry) -> Entry:
    return {key: value for key, value in entry.items() if (key, value) != ("tools", ALL)}


def _write(name: str, entry: Entry) -> Entry:
    return {"tools": ALL, **entry}


client = McpClient(
    title="GitHub Copilot CLI",
    syntax=jsonc,
    table=("mcpServers",),
    file=lambda folders: (folders.named("COPILOT_HOME") or folders.home / ".copilot") / "mcp-config.json",
    expands=True,
    afterwards="It takes effect in new sessions of Copilot CLI.",
    dialect=Dialect(
        types={"stdio": "stdio", "http": "http", "sse": "sse"},
        defaults=True,
        bare=True,
        call=(Timer(key="timeout", unit=MILLISECONDS),),
        include="tools",
        folder=True,
        read=_read,
        write=_write,
    ),
    # It reads `.mcp.json` too, which is Claude Code's.
    project=(".github/mcp.json",),
    other_names=("copilot-cli", "github-copilot", "github-copilot-cli"),
)
