"""`toolcrib uninstall`: remove an installed server, its files and its entry."""

from __future__ import annotations

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.output import note, say
from toolcrib.cli.surface import Surface


@declare("Servers", asks=True)
@click.argument("name", shell_complete=completion.servers)
async def command(surface: Surface, name: str) -> None:
    """Remove NAME and all its installed versions.

    The previous config file is kept beside it; the installed files are deleted.
    """
    async with surface.reach() as client:
        # Fails before asking if it is not installed.
        await client.uninstall(name=name, dry_run=True)
        surface.ask(f"Remove {name} and everything installed for it?", refused=f"{name} was not removed.")
        outcome = await client.uninstall(name=name)
    if surface.answer(outcome):
        return
    versions = ", ".join(outcome["versions"]) or "no complete version"
    say(f"{name} is uninstalled ({versions}).")
    for secret in outcome["unused_secrets"]:
        note(f"No server uses the secret {secret} any more. To delete it: toolcrib secret remove {secret}")
