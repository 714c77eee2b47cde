"""`toolcrib remove`: take a server out of the configuration."""

from __future__ import annotations

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.output import note, say
from toolcrib.cli.surface import Surface


@declare("Servers", asks=True)
@click.argument("name", shell_complete=completion.servers)
async def command(surface: Surface, name: str) -> None:
    """Remove NAME from the configuration.

    The config file as it was before is kept beside it.
    """
    async with surface.reach() as crib:
        # Asked only about what is there.
        await crib.run("check", {"server": name})
        surface.ask(f"Remove {name}?", refused=f"{name} was not removed.")
        outcome = await crib.run("remove", {"name": name})
    if surface.answer(outcome):
        return
    say(f"{name} is removed. To undo, take its entry from {outcome['backup']}.")
    for secret in outcome["unused_secrets"]:
        note(f"The secret {secret} is kept, and no server uses it: toolcrib secret remove {secret}")
