"""`toolcrib secret`: values that servers need and no file should show."""

from __future__ import annotations

import sys
from typing import Any

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.group import command_of
from toolcrib.cli.output import note, say
from toolcrib.cli.questions import ask_unseen
from toolcrib.cli.surface import Surface
from toolcrib.cli.tables import show_table
from toolcrib.errors import UsageError

LARGEST = 64 * 1024


@declare()
@click.argument("name", shell_complete=completion.secrets)
async def set_(surface: Surface, name: str) -> None:
    """Store the secret NAME; its value comes from a hidden prompt, or from stdin.

    An entry refers to it as ${secret:NAME}.
    """
    value = _read_value(name)
    async with surface.reach() as crib:
        outcome = await crib.run("secret_set", {"name": name, "value": value})
    if surface.answer(outcome):
        return
    say(f"{name} is stored in the {_PLACES[outcome['place']]}.")
    for server in outcome["restarted"]:
        note(f"{server} uses it, and was started again.")


@declare()
async def list_(surface: Surface) -> None:
    """Show the names of the secrets, where they lie and which servers use them; never a value."""
    async with surface.reach() as crib:
        found = await crib.run("secret_list")
    if surface.answer(found):
        return
    if not found:
        note("No secrets yet. Store one with: toolcrib secret set NAME")
        return
    show_table(["NAME", "PLACE", "SERVERS"], [_row(secret) for secret in found], colour=_colour)


@declare(asks=True)
@click.argument("name", shell_complete=completion.secrets)
async def remove(surface: Surface, name: str) -> None:
    """Forget the secret NAME; there is no way back."""
    async with surface.reach() as crib:
        # Asked only about what is there.
        known = [one["name"] for one in await crib.run("secret_list") if one["place"]]
        if name in known:
            surface.ask(f"Forget the secret {name} for good?", refused=f"{name} was not removed.")
        outcome = await crib.run("secret_remove", {"name": name})
    if surface.answer(outcome):
        return
    say(f"{name} is forgotten.")
    for server in outcome["servers"]:
        note(f"{server} refers to it, and will not start without it.")


_PLACES = {"keyring": "system keyring", "file": "secrets file, which only you can read"}


def _read_value(name: str) -> str:
    """Never from the command line, which everyone on the machine can read."""
    if sys.stdin.isatty():
        return ask_unseen(f"Value of {name}")
    value = sys.stdin.read(LARGEST + 1)
    if len(value) > LARGEST:
        raise UsageError(f"The value is longer than {LARGEST} characters.")
    # `echo value |` and files end in a line break that is not meant.
    return value.removesuffix("\n").removesuffix("\r")


def _row(secret: dict[str, Any]) -> list[str]:
    return [secret["name"], secret["place"] or "missing", ", ".join(secret["servers"]) or "-"]


def _colour(column: int, text: str) -> str:
    return "red" if column == 1 and text == "missing" else ""


command = command_of(
    "secret", "Housekeeping", "Keep what servers need and no file should show.", set_, list_, remove
)
