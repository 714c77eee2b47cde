"""`toolcrib secret`: store, list and delete secrets."""

from __future__ import annotations

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.group import command_of
from toolcrib.cli.output import note, say
from toolcrib.cli.questions import read_secret
from toolcrib.cli.surface import Surface


@declare()
@click.argument("name", shell_complete=completion.secrets)
async def set_(surface: Surface, name: str) -> None:
    """Store the secret NAME; its value is read from a hidden prompt or from stdin.

    Entries refer to it as ${secret:NAME}.
    """
    value = read_secret(f"Value of {name}")
    async with surface.reach() as client:
        outcome = await client.secret_set(name=name, value=value)
    if surface.answer(outcome):
        return
    say(f"{name} is stored in the {_PLACES[outcome['place']]}.")
    for server in outcome["restarted"]:
        note(f"{server} uses it and was restarted.")


@declare(asks=True)
@click.argument("name", shell_complete=completion.secrets)
async def remove(surface: Surface, name: str) -> None:
    """Delete the secret NAME; this cannot be undone."""
    async with surface.reach() as client:
        # An unknown name fails without asking.
        known = [secret["name"] for secret in await client.secret_list() if secret["place"]]
        if name in known:
            surface.ask(
                f"Delete the secret {name}? This cannot be undone.", refused=f"{name} was not deleted."
            )
        outcome = await client.secret_remove(name=name)
    if surface.answer(outcome):
        return
    say(f"{name} is deleted.")
    for server in outcome["servers"]:
        note(f"{server} refers to it and will not start without it.")


_PLACES = {"keyring": "system keyring", "file": "secrets file, readable only by you"}


command = command_of("secret", "Housekeeping", "Store, list and delete secrets.", set_, remove)
