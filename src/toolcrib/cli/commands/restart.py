"""`toolcrib restart`: end and start a server of the running host."""

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
    """End NAME and start it again, in the running host."""
    async with surface.reach() as crib:
        server = await crib.run("restart", {"name": name})
    if not surface.answer(server):
        say(describe(server))
