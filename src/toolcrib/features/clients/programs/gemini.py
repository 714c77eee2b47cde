"""Gemini CLI: a part of its settings, in which an address over streamable HTTP has a key of its own."""

from __future__ import annotations

from toolcrib.features.clients.files import jsonc
from toolcrib.features.clients.files.client import McpClient
from toolcrib.features.clients.transfer.dialect import MILLISECONDS, Dialect, Timer

client = McpClient(
    title="Gemini CLI",
    syntax=jsonc,
    table=("mcpServers",),
    file=lambda folders: folders.home / ".gemini" / "settings.json",
    expands=True,
    afterwards="It takes effect in new sessions of Gemini CLI.",
    dialect=Dialect(
        addresses={"httpUrl": "http", "url": "sse"},
        bare=True,
        call=(Timer(key="timeout", unit=MILLISECONDS),),
        include="includeTools",
        exclude="excludeTools",
        folder=True,
        grants=frozenset({"trust"}),
    ),
    project=(".gemini/settings.json",),
)
