"""Kiro: the editor and the terminal program share one file; Amazon Q Developer CLI became the latter."""

from __future__ import annotations

from toolcrib.features.clients.files import jsonc
from toolcrib.features.clients.files.client import McpClient
from toolcrib.features.clients.transfer.dialect import Dialect

client = McpClient(
    title="Kiro",
    syntax=jsonc,
    table=("mcpServers",),
    file=lambda folders: folders.home / ".kiro" / "settings" / "mcp.json",
    marker=lambda folders: folders.home / ".kiro",
    expands=True,
    afterwards="It takes effect at once in the editor, and in new sessions of Kiro CLI.",
    dialect=Dialect(
        off="disabled",
        exclude="disabledTools",
        grants=frozenset({"autoApprove"}),
    ),
    project=(".kiro/settings/mcp.json",),
    other_names=("kiro-cli",),
)
