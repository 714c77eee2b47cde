"""LibreChat: the `librechat.yaml` in the folder that it runs from."""

from __future__ import annotations

from toolcrib.features.clients.files import yaml_text
from toolcrib.features.clients.files.client import McpClient
from toolcrib.features.clients.transfer.dialect import MILLISECONDS, Dialect, Timer

client = McpClient(
    title="LibreChat",
    syntax=yaml_text,
    table=("mcpServers",),
    file=lambda folders: folders.home / "LibreChat" / "librechat.yaml",
    expands=True,
    afterwards="It takes effect when LibreChat is started again.",
    dialect=Dialect(
        addresses={"url": "sse"},
        types={"stdio": "stdio", "http": "streamable-http", "sse": "sse"},
        start=(Timer(key="initTimeout", unit=MILLISECONDS),),
        call=(Timer(key="timeout", unit=MILLISECONDS),),
    ),
    project=("librechat.yaml",),
)
