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
    """Remove NAME with all its installed versions.

    The config file as it was before is kept beside it; the files are not.
    """
    async with surface.reach() as crib:
        # Asked only about what is there.
        await crib.run("uninstall", {"name": name, "dry_run": True})
        surface.ask(f"Remove {name} and everything installed for it?", refused=f"{name} was not removed.")
        outcome = await crib.run("uninstall", {"name": name})
    if surface.answer(outcome):
        return
    versions = ", ".join(outcome["versions"]) or "nothing whole"
    say(f"{name} is uninstalled ({versions}).")
    for secret in outcome["unused_secrets"]:
        note(f"The secret {secret} is kept, and no server uses it: toolcrib secret remove {secret}")
