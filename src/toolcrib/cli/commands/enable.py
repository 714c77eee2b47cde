"""`toolcrib enable`: let a server run."""

from __future__ import annotations

import click

from toolcrib.cli import completion
from toolcrib.cli.commands.servers import describe
from toolcrib.cli.declare import declare
from toolcrib.cli.output import say
from toolcrib.cli.surface import Surface


@declare("Servers")
@click.argument("name", shell_complete=completion.servers)
async def command(surface: Surface, name: str) -> None:
    """Switch NAME on, now and at every start."""
    async with surface.reach() as crib:
        outcome = await crib.run("enable", {"name": name})
    if surface.answer(outcome):
        return
    say(describe(outcome["server"]) if outcome["server"] else f"{name} is on.")
