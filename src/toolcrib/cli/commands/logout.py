"""`toolcrib logout`: forget the sign-in to a remote server."""

from __future__ import annotations

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.output import note, say
from toolcrib.cli.surface import Surface


@declare("Servers")
@click.argument("name", shell_complete=completion.servers)
async def command(surface: Surface, name: str) -> None:
    """Forget the sign-in to the remote server NAME.

    The tokens are deleted here; its issuer still lists the access until you take it back there.
    """
    async with surface.reach() as crib:
        outcome = await crib.run("logout", {"name": name})
    if surface.answer(outcome):
        return
    if outcome["was_signed_in"]:
        say(f"Signed out of {name}.")
    else:
        note(f"Nobody was signed in to {name}.")
