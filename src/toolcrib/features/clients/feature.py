"""Declares other programs' config files: import from them, export to them, connect them to the gateway."""

from __future__ import annotations

from toolcrib.feature import Feature

FEATURE = Feature(
    name="clients",
    title="Other MCP programs",
    package="toolcrib.features.clients",
    docs="connect",
    operations=("operations.imports", "operations.exports", "operations.connect"),
    results=("results",),
    commands={"connect": "commands.connect", "export": "commands.export", "import": "commands.import_"},
)
