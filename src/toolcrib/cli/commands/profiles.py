"""`toolcrib profiles`: the views that a gateway lends, and the tokens that open them."""

from __future__ import annotations

from typing import Any

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.group import command_of
from toolcrib.cli.output import note, say
from toolcrib.cli.surface import Surface
from toolcrib.cli.tables import show_table

WHOLE = "(whole crib)"


@declare()
async def list_(surface: Surface) -> None:
    """Show the views, where each is served, and which need a token; never a token."""
    async with surface.reach() as crib:
        found = await crib.run("profile_list")
    if surface.answer(found):
        return
    show_table(["NAME", "PATH", "TOKEN", "SHOWS"], [_row(view) for view in found])


@declare()
@click.argument("name")
@click.option(
    "--server",
    "servers",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.servers,
    help="Show only its tools; repeatable.",
)
@click.option("--tool", "tools", multiple=True, metavar="PATTERN", help="Show only these; repeatable.")
@click.option("--read-only", is_flag=True, help="Show only tools that declare to change nothing.")
@click.option("--search", is_flag=True, help="Show three tools to search with, instead of all.")
@click.option("--plain-names", is_flag=True, help="Show the servers' own names where these are clear.")
@click.option("-k", "k", type=click.IntRange(1, 50), help="How many tools a search returns.")
@click.option(
    "--always-on", multiple=True, metavar="PATTERN", help="With --search, also show these; repeatable."
)
@click.option("--replace", is_flag=True, help="Put it in the place of the one of this name; its token stays.")
async def add(surface: Surface, **view: Any) -> None:
    """Add the view NAME; a gateway that runs serves it at once, at /mcp/NAME."""
    params = {**view, "always_on": list(view["always_on"]) or None}
    async with surface.reach() as crib:
        added = await crib.run("profile_add", {**params, **_lists(view)})
    if surface.answer(added):
        return
    say(f"{added['name']} is served at {added['path']}: {_shows(added)}.")
    if not added["token"]:
        make = f"toolcrib profiles token {added['name']}"
        note(f"Everybody on this machine may use it. Make a token with: {make}")


@declare(asks=True)
@click.argument("name", shell_complete=completion.profiles)
async def remove(surface: Surface, name: str) -> None:
    """Take the view NAME out; its clients are cut off, and its token is void."""
    async with surface.reach() as crib:
        # Asked only about what is there.
        if name in [one["name"] for one in await crib.run("profile_list")]:
            surface.ask(f"Remove the profile {name}?", refused=f"{name} was not removed.")
        outcome = await crib.run("profile_remove", {"name": name})
    if not surface.answer(outcome):
        say(f"{name} is removed.")


@declare(asks=True)
@click.argument("name", default="", shell_complete=completion.profiles)
@click.option(
    "--revoke", is_flag=True, help="Take the token away; everybody on this machine may then use it."
)
async def token(surface: Surface, name: str, revoke: bool) -> None:
    """Make a token for the view NAME, or for the whole crib at /mcp, and show it this once.

    Only a hash of it is kept. A new one makes the old one void, and cuts its clients off.
    """
    from toolcrib.config.tokens import hash_token, new_token, tail_of

    made = "" if revoke else new_token()
    async with surface.reach() as crib:
        before = _find(await crib.run("profile_list"), name)
        if before["token"]:
            surface.ask(_question(before, revoke), refused="The token stays as it is.")
        params = {"name": name, "token_hash": hash_token(made) if made else "", "tail": tail_of(made)}
        view = await crib.run("profile_token", params)
    if surface.answer({"name": view["name"], "path": view["path"], "token": made or None}):
        return
    if revoke:
        say(f"{view['path']} needs no token any more.")
        return
    say(made)
    note(f"Clients of {view['path']} send it as: Authorization: Bearer TOKEN. It is not shown again.")


def _find(views: list[dict[str, Any]], name: str) -> dict[str, Any]:
    for view in views:
        if view["name"] == name:
            return view
    from toolcrib.config.profiles import unknown_profile

    raise unknown_profile(name, [view["name"] for view in views if view["name"]])


def _question(view: dict[str, Any], revoke: bool) -> str:
    if revoke:
        return f"Let everybody on this machine use {view['path']}?"
    return f"{view['path']} has a token. Make it void, and a new one?"


def _lists(view: dict[str, Any]) -> dict[str, Any]:
    return {key: list(view[key]) for key in ("servers", "tools")}


def _row(view: dict[str, Any]) -> list[str]:
    return [view["name"] or WHOLE, view["path"], "needed" if view["token"] else "-", _shows(view)]


def _shows(view: dict[str, Any]) -> str:
    parts = [
        f"tools of {', '.join(view['servers'])}" if view["servers"] else "",
        f"only {', '.join(view['tools'])}" if view["tools"] else "",
        "read-only" if view["read_only"] else "",
        "to be searched" if view["search"] else "",
        "plain names" if view["plain_names"] else "",
    ]
    return ", ".join(part for part in parts if part) or "everything"


command = command_of(
    "profiles",
    "Host",
    "The views of the crib that a gateway lends, and their tokens.",
    list_,
    add,
    remove,
    token,
)
