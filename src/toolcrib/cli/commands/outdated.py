"""`toolcrib outdated`: which installed servers there is a newer version of."""

from __future__ import annotations

from typing import Any

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.output import note
from toolcrib.cli.surface import Surface
from toolcrib.cli.tables import show_table


@declare("Servers")
@click.argument("name", required=False, shell_complete=completion.servers)
async def command(surface: Surface, name: str | None) -> None:
    """Show installed servers beside the newest versions there are.

    Nothing updates by itself: toolcrib update NAME
    """
    async with surface.reach() as crib:
        found = await crib.run("outdated", {"name": name})
    if surface.answer(found):
        return
    if not found:
        note("Nothing is installed. Install a server with: toolcrib add npm:PACKAGE")
        return
    rows = [_row(server) for server in found]
    show_table(["NAME", "PACKAGE", "VERSION", "INSTALLED", "NEWEST", "KEPT"], rows, colour=_colour)
    for server in found:
        if server["error"]:
            note(f"{server['name']}: {server['error']['message']}")


def _row(server: dict[str, Any]) -> list[str]:
    newest = server["newest"] or "-"
    return [
        server["name"],
        server["package"],
        server["version"],
        server["installed_at"][:10],
        newest if server["outdated"] or newest == "-" else "same",
        ", ".join(one["version"] for one in server["kept"]) or "-",
    ]


def _colour(column: int, text: str) -> str:
    return "yellow" if column == 4 and text not in ("-", "same") else ""
