"""`toolcrib open`: the page of the running host in the browser, and who was let in."""

from __future__ import annotations

import click

from toolcrib.cli.declare import declare
from toolcrib.cli.output import say
from toolcrib.cli.surface import Surface


@declare("Host")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--list", "listed", is_flag=True, help="Show the pages that were let in.")
@click.option("--revoke", metavar="ID", help="Let this page in no more.")
async def command(surface: Surface, no_browser: bool, listed: bool, revoke: str | None) -> None:
    """Open the page of the running host.

    Prints a new address, which works once and for ten minutes, and opens it in the browser.
    """
    if listed:
        await _list(surface)
    elif revoke is not None:
        await _revoke(surface, revoke)
    else:
        await _open(surface, browser=not no_browser)


async def _open(surface: Surface, *, browser: bool) -> None:
    from toolcrib.cli.browser import can_show, show_and_wait

    async with surface.reach() as crib:
        found = await crib.run("page_address")
    if surface.answer(found):
        return
    say(found["url"])
    if browser and can_show():
        show_and_wait(found["url"])


async def _list(surface: Surface) -> None:
    from toolcrib.cli.tables import show_table

    async with surface.reach() as crib:
        pages = await crib.run("pages")
    if surface.answer(pages):
        return
    if not pages:
        say("No page was let in.")
        return
    rows = [(page["id"], page["made_at"][:16], page["used_at"][:16], page["name"]) for page in pages]
    show_table(("ID", "LET IN", "LAST USED", "BROWSER"), rows)


async def _revoke(surface: Surface, identity: str) -> None:
    async with surface.reach() as crib:
        revoked = await crib.run("page_revoke", {"id": identity})
    if not surface.answer(revoked):
        say(f"{identity} is let in no more.")
