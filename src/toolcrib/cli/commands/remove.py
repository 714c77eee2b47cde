"""`toolcrib remove`: remove a server from the config file."""

from __future__ import annotations

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.output import note, say
from toolcrib.cli.surface import Surface


@declare("Servers", asks=True)
@click.argument("name", shell_complete=completion.servers)
async def command(surface: Surface, name: str) -> None:
    """Remove NAME from the config file.

    The previous config file is kept beside it.
    """
    async with surface.reach() as client:
        # Fails before asking if there is no such server.
        await client.check(server=name)
        surface.ask(f"Remove {name}?", refused=f"{name} was not removed.")
        outcome = await client.remove(name=name)
    if surface.answer(outcome):
        return
    say(f"{name} is removed. To undo, copy its entry from {outcome['backup']}.")
    for secret in outcome["unused_secrets"]:
        note(f"No server uses the secret {secret} any more. To delete it: toolcrib secret remove {secret}")
    for folder in outcome["kept_folders"]:
        note(f"Files that programs saved on its display are still in {folder}")
