"""`toolcrib search-servers`: servers that one could add, and what each needs."""

from __future__ import annotations

from typing import Any

import click

from toolcrib.cli.declare import declare
from toolcrib.cli.output import note, say
from toolcrib.cli.safe_text import one_line
from toolcrib.cli.surface import Surface
from toolcrib.cli.tables import show_table

FEW = 3
"""So many are shown with what to type."""


@declare("Servers")
@click.argument("words", nargs=-1)
@click.option(
    "-n", "limit", type=click.IntRange(1, 100), default=30, show_default=True, help="At most so many."
)
@click.option("--no-registry", is_flag=True, help="Look only in the list that comes with Toolcrib.")
async def command(surface: Surface, words: tuple[str, ...], limit: int, no_registry: bool) -> None:
    """Find servers to add.

    Looks in a small list that comes with Toolcrib, and asks the registry of `registryUrl` in the settings,
    where one is set. Anyone may publish in a registry: being listed there says nothing about a server.
    """
    async with surface.reach() as crib:
        asked = {"query": " ".join(words), "limit": limit, "registry": not no_registry}
        found = await crib.run("search_servers", asked)
    if surface.answer(found):
        return
    _show(found["servers"])
    shown = len(found["servers"])
    if shown < found["total"]:
        note(f"{shown} of {found['total']} are shown. See more with: -n {min(found['total'], 100)}")
    if found["note"]:
        note(found["note"])


def _show(servers: list[dict[str, Any]]) -> None:
    if not servers:
        note("No server of the list fits. Add one by its package: toolcrib add npm:PACKAGE")
        return
    if len(servers) > FEW:
        rows = [[one["name"], one["origin"], one["reference"] or one["url"], one["about"]] for one in servers]
        show_table(["NAME", "ORIGIN", "FROM", "WHAT FOR"], rows)
        return
    for one in servers:
        say(f"{one_line(one['name'])} ({one['origin']}): {one_line(one['about'])}")
        for variable in one["env"]:
            needed = "needs" if variable["required"] else "takes"
            say(f"  {needed} {one_line(variable['name'])}: {one_line(variable['about'])}")
        say(f"  {one_line(one['add'])}")
