"""`toolcrib outdated`: compare installed servers with their newest versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.output import note, show_table
from toolcrib.cli.surface import Surface

if TYPE_CHECKING:
    from toolcrib.operations.results.installs import VersionLook


@declare("Servers")
@click.argument("name", required=False, shell_complete=completion.servers)
async def command(surface: Surface, name: str | None) -> None:
    """Compare installed servers with their newest versions.

    Nothing is updated automatically. To update: toolcrib update NAME
    """
    async with surface.reach() as client:
        found = await client.outdated(name=name)
    if surface.answer(found):
        return
    if not found:
        note("No servers are installed. Install one with: toolcrib add npm:PACKAGE")
        return
    rows = [_row(server) for server in found]
    show_table(["NAME", "PACKAGE", "VERSION", "INSTALLED", "NEWEST", "KEPT"], rows, colour=_colour)
    for server in found:
        if server["error"]:
            note(f"{server['name']}: {server['error']['message']}")


def _row(server: VersionLook) -> list[str]:
    newest = server["newest"] or "-"
    return [
        server["name"],
        server["package"],
        server["version"],
        server["installed_at"][:10],
        newest if server["outdated"] or newest == "-" else "same",
        ", ".join(kept["version"] for kept in server["kept"]) or "-",
    ]


def _colour(column: int, text: str) -> str:
    return "yellow" if column == 4 and text not in ("-", "same") else ""
