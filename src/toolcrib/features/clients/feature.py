"""Declares other programs' config files: import from them, export to them, connect them to the gateway."""

from __future__ import annotations

from toolcrib.feature import Feature

FEATURE = Feature(
    name="clients",
    title="Other MCP programs",
    package="toolcrib.features.clients",
    docs="clients",
)
