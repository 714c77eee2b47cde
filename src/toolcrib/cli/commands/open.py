"""`toolcrib open`: open the page of the running host, and list or revoke signed-in browsers."""

from __future__ import annotations

import click

from toolcrib.cli.declare import declare
from toolcrib.cli.output import say, show_table
from toolcrib.cli.surface import Surface


@declare("Host")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--list", "listed", is_flag=True, help="List the signed-in browsers.")
@click.option("--revoke", metavar="ID", help="Sign this browser out.")
async def command(surface: Surface, no_browser: bool, listed: bool, revoke: str | None) -> None:
    """Open the web page of the running host.

    Prints a new address, which works once and for ten minutes, and opens it in the browser.
    """
    if listed:
        await _list(surface)
    elif revoke is not None:
        await _revoke(surface, revoke)
    else:
        await _open(surface, browser=not no_browser)


async def _open(surface: Surface, *, browser: bool) -> None:
    from toolcrib.cli.browser import can_open, open_and_wait

    async with surface.reach() as client:
        found = await client.page_address()
    if surface.answer(found):
        return
    say(found["url"])
    if browser and can_open():
        open_and_wait(found["url"])


async def _list(surface: Surface) -> None:

    async with surface.reach() as client:
        pages = await client.pages()
    if surface.answer(pages):
        return
    if not pages:
        say("No browser is signed in.")
        return
    rows = [(page["id"], page["made_at"][:16], page["used_at"][:16], page["name"]) for page in pages]
    show_table(("ID", "SIGNED IN", "LAST USED", "BROWSER"), rows)


async def _revoke(surface: Surface, identity: str) -> None:
    async with surface.reach() as client:
        revoked = await client.page_revoke(id=identity)
    if not surface.answer(revoked):
        say(f"{identity} is signed out.")
