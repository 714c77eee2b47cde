"""`toolcrib login`: sign in to a remote server in the browser. Asks first if the hosts of the sign-in have to
be confirmed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from toolcrib.cli import completion
from toolcrib.cli.commands.servers import describe as describe_server
from toolcrib.cli.declare import Seconds, declare
from toolcrib.cli.output import note, say
from toolcrib.cli.questions import can_ask, confirm
from toolcrib.cli.safe_text import one_line
from toolcrib.cli.surface import Surface
from toolcrib.errors import Denied, HostsNotConfirmed

if TYPE_CHECKING:
    from toolcrib.operations.results.servers import SignInPage

START_TIMEOUT = 10.0
"""Seconds to wait for the server to start in a running host."""


@declare("Servers")
@click.argument("name", shell_complete=completion.servers)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--timeout", type=Seconds(1, 3600), default=600.0, help="Seconds to wait for the sign-in.")
async def command(surface: Surface, name: str, no_browser: bool, timeout: float) -> None:
    """Sign in to the remote server NAME.

    Opens its sign-in page in your browser and waits until you have signed in. The tokens are stored in the
    system keyring, renewed automatically, and sent only to their issuer and the server.
    """

    def show(event: SignInPage) -> None:
        address = event["open"]
        note(f"Signing in to {name} at {one_line(event['issuer'])}.")
        note(f"Sign in on this page: {one_line(address)}")
        if not no_browser:
            _open(address)

    async with surface.reach() as client:
        wait = START_TIMEOUT if client.running else 0.0
        sign_in = partial(client.login, name=name, patience=timeout, wait=wait, on_event=show)
        try:
            outcome = await sign_in()
        except HostsNotConfirmed as error:
            outcome = await sign_in(hosts=_confirmed(surface, error))
    if surface.answer(outcome):
        return
    say(f"Signed in to {name} at {one_line(outcome['issuer'])}.")
    if not outcome["renews"] and outcome["expires_in"] is not None:
        note(f"It expires in {outcome['expires_in']} s and cannot be renewed automatically.")
    if outcome["server"] is not None:
        say(describe_server(outcome["server"]))


def _confirmed(surface: Surface, error: HostsNotConfirmed) -> dict[str, str]:
    """The hosts, if the user agrees."""
    if surface.json or not can_ask():
        raise error
    note(f"{error.message}\n")
    for part, host in error.data.items():
        note(f"  {part:<13} {one_line(host)}")
    if not confirm("Do these hosts belong together, and do you want to sign in there?"):
        raise Denied("You did not confirm the hosts, so nothing was opened or sent.")
    return dict(error.data)


def _open(address: str) -> None:
    import webbrowser

    if address.startswith(("https://", "http://")) and not webbrowser.open(address):
        note("No browser could be opened; open the address yourself.")
