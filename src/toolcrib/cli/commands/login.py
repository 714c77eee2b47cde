"""`toolcrib login`: sign in to a remote server in the browser."""

from __future__ import annotations

from typing import Any

import click

from toolcrib.cli import completion
from toolcrib.cli.commands.servers import describe as describe_server
from toolcrib.cli.declare import Seconds, declare
from toolcrib.cli.output import note, say
from toolcrib.cli.safe_text import one_line
from toolcrib.cli.surface import Surface

START_PATIENCE = 10.0


@declare("Servers")
@click.argument("name", shell_complete=completion.servers)
@click.option("--no-browser", is_flag=True, help="Only show the address; open it where you like.")
@click.option("--timeout", type=Seconds(1, 3600), default=600.0, help="Seconds to wait for the sign-in.")
async def command(surface: Surface, name: str, no_browser: bool, timeout: float) -> None:
    """Sign in to the remote server NAME.

    Opens its sign-in page in your browser and waits here for you to come back. The tokens are kept in the
    system keyring, are renewed by themselves, and go to nobody but their issuer and the server.
    """

    def show(event: dict[str, Any]) -> None:
        address = str(event["open"])
        note(f"Sign in on this page: {one_line(address)}")
        if not no_browser:
            _open(address)

    async with surface.reach() as crib:
        wait = START_PATIENCE if crib.running else 0.0
        outcome = await crib.run("login", {"name": name, "patience": timeout, "wait": wait}, on_event=show)
    if surface.answer(outcome):
        return
    say(f"Signed in to {name} at {one_line(outcome['issuer'])}.")
    if not outcome["renews"] and outcome["expires_in"] is not None:
        note(f"It ends in {outcome['expires_in']} s and cannot be renewed without you.")
    if outcome["server"] is not None:
        say(describe_server(outcome["server"]))


def _open(address: str) -> None:
    """The browser; where there is none, the address that was shown has to do."""
    import webbrowser

    if address.startswith(("https://", "http://")) and not webbrowser.open(address):
        note("No browser could be opened here; open the address yourself.")
