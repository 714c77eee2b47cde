"""`toolcrib rollback`: go back to an earlier version of an installed server."""

from __future__ import annotations

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.output import say
from toolcrib.cli.surface import Surface


@declare("Servers")
@click.argument("name", shell_complete=completion.servers)
@click.option("--to", metavar="VERSION", help="This version, instead of the one installed before.")
async def command(surface: Surface, name: str, to: str | None) -> None:
    """Go back to the version of NAME that was installed before.

    Nothing is fetched: the versions before are kept.
    """
    async with surface.reach() as crib:
        outcome = await crib.run("rollback", {"name": name, "to": to})
    if surface.answer(outcome):
        return
    before = outcome["before"]
    was = f", instead of {before['version']}" if before else ""
    say(f"{name} is back at {outcome['active']['version']}{was}.")
