"""`toolcrib search-servers`: find servers to add; how many are shown in detail, and the advice if none is
found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from toolcrib.cli.declare import declare
from toolcrib.cli.output import note, say, show_table
from toolcrib.cli.safe_text import one_line
from toolcrib.cli.surface import Surface

if TYPE_CHECKING:
    from toolcrib.operations.client import CatalogServer

DETAILED = 3
"""Up to this many are shown with the command that adds them."""


@declare("Servers")
@click.argument("words", nargs=-1)
@click.option(
    "-n", "limit", type=click.IntRange(1, 100), default=30, show_default=True, help="Maximum number."
)
@click.option("--no-registry", is_flag=True, help="Search only the list that comes with Toolcrib.")
async def command(surface: Surface, words: tuple[str, ...], limit: int, no_registry: bool) -> None:
    """Find servers to add.

    Searches a small list that comes with Toolcrib, and the registry set as `registryUrl` in the settings.
    Anyone can publish in a registry: being listed there says nothing about a server's quality.
    """
    async with surface.reach() as client:
        found = await client.search_servers(query=" ".join(words), limit=limit, registry=not no_registry)
    if surface.answer(found):
        return
    _show(found["servers"])
    shown = len(found["servers"])
    if shown < found["total"]:
        note(f"Showing {shown} of {found['total']}. For more: -n {min(found['total'], 100)}")
    if found["note"]:
        note(found["note"])


def _show(servers: list[CatalogServer]) -> None:
    if not servers:
        note("No server found. To add one by its package: toolcrib add npm:PACKAGE")
        return
    if len(servers) > DETAILED:
        rows = [
            [server["name"], server["origin"], server["reference"] or server["url"], server["about"]]
            for server in servers
        ]
        show_table(["NAME", "ORIGIN", "FROM", "PURPOSE"], rows)
        return
    for server in servers:
        say(f"{one_line(server['name'])} ({server['origin']}): {one_line(server['about'])}")
        for variable in server["env"]:
            needed = "requires" if variable["required"] else "accepts"
            say(f"  {needed} {one_line(variable['name'])}: {one_line(variable['about'])}")
        say(f"  {one_line(server['add'])}")
