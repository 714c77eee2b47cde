"""Devin Desktop, which was called Windsurf until June 2026; the older versions keep another file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from toolcrib.features.clients.files import jsonc
from toolcrib.features.clients.files.client import McpClient
from toolcrib.features.clients.files.gateway import UserFolders
from toolcrib.features.clients.transfer.dialect import Dialect


def _file(folders: UserFolders) -> Path:
    # It uses ~/.config on macOS too, as terminal programs do.
    folder = folders.roaming if folders.platform == "win32" else folders.config
    return folder / "devin" / "mcp_config.json"


def _windsurf_file(folders: UserFolders) -> Path:
    return folders.home / ".codeium" / "windsurf" / "mcp_config.json"


_dialect = Dialect(
    addresses={"url": "http", "serverUrl": "http"},
    types={"sse": "sse"},
    variable="${env:NAME}",
    off="disabled",
    exclude="disabledTools",
    grants=frozenset({"alwaysAllow", "autoApprove"}),
)
_windsurf = McpClient(
    title="Windsurf",
    syntax=jsonc,
    table=("mcpServers",),
    file=_windsurf_file,
    expands=True,
    afterwards="It takes effect when you refresh Windsurf's MCP panel.",
    dialect=replace(_dialect, addresses={"serverUrl": "http", "url": "http"}),
)
client = replace(
    _windsurf,
    title="Devin Desktop (Windsurf)",
    file=_file,
    afterwards="It takes effect when you refresh the MCP list of Devin Desktop.",
    dialect=_dialect,
    project=(".devin/mcp_config.json",),
    older=_windsurf,
    other_names=("devin", "devin-desktop"),
)
