"""Amp: one key of its settings, whose name has a dot in it."""

from __future__ import annotations

from toolcrib.features.clients.files import jsonc
from toolcrib.features.clients.files.client import McpClient
from toolcrib.features.clients.files.gateway import Address, Program
from toolcrib.features.clients.transfer.dialect import Dialect


def _command(name: str, gateway: Program | Address) -> list[str]:
    if isinstance(gateway, Address):
        return ["amp", "mcp", "add", name, gateway.url]
    return ["amp", "mcp", "add", name, "--", gateway.command, *gateway.args]


client = McpClient(
    title="Amp",
    syntax=jsonc,
    table=("amp.mcpServers",),
    file=lambda folders: folders.home / ".config" / "amp" / "settings.json",
    expands=True,
    own_command=_command,
    afterwards="It takes effect in new sessions of Amp.",
    dialect=Dialect(include="includeTools"),
    project=(".amp/settings.json",),
)
