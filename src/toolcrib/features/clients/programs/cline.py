"""Cline: a file of its own; older versions keep it inside the settings of VS Code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from toolcrib.features.clients.files import jsonc
from toolcrib.features.clients.files.client import Entry, McpClient
from toolcrib.features.clients.files.gateway import UserFolders
from toolcrib.features.clients.transfer.dialect import Dialect, Timer

SETTINGS = Path("User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json")


def _file(folders: UserFolders) -> Path:
    named = folders.named("CLINE_MCP_SETTINGS_PATH")
    data = folders.named("CLINE_DATA_DIR") or folders.home / ".cline" / "data"
    return named or data / "settings" / SETTINGS.name


def _marker(folders: UserFolders) -> Path:
    return folders.named("CLINE_DATA_DIR") or folders.home / ".cline" / "data"


def _extension_file(folders: UserFolders) -> Path:
    return folders.applications / "Code" / SETTINGS


def _read(entry: Entry) -> Entry:
    """The connection may be in a table of its own: `"transport": {"type": …}`."""
    nested = entry.get("transport")
    if not isinstance(nested, Mapping):
        return entry
    return {**{key: value for key, value in entry.items() if key != "transport"}, **nested}


_extension = McpClient(
    title="Cline",
    syntax=jsonc,
    table=("mcpServers",),
    file=_extension_file,
    marker=lambda folders: _extension_file(folders).parent.parent,
    afterwards="It takes effect at once; Cline lists it under its MCP servers.",
    dialect=Dialect(
        addresses={"url": "sse"},
        types={"http": "streamableHttp", "sse": "sse"},
        fills=False,
        off="disabled",
        call=(Timer(key="timeout"),),
        grants=frozenset({"autoApprove", "alwaysAllow"}),
        read=_read,
    ),
    other_files=lambda folders: (folders.applications / "Cursor" / SETTINGS,),
)
client = replace(_extension, file=_file, marker=_marker, older=_extension)
