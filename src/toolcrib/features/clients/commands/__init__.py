"""The commands for other programs' config files."""

from __future__ import annotations

import click


def client_completion(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The MCP clients whose config files are known."""
    from toolcrib.features.clients.files.client import client_names

    return [name for name in client_names() if name.startswith(incomplete)]
