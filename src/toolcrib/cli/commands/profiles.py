"""`toolcrib profiles`: list and change the profiles of the gateway, their tokens, and where their clients are
asked for approval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare, repeatable
from toolcrib.cli.group import command_of
from toolcrib.cli.output import note, say, show_table
from toolcrib.cli.surface import Surface

if TYPE_CHECKING:
    from toolcrib.config.settings import ClientApprovals
    from toolcrib.operations.results.gateway import ProfileShown

WHOLE = "(all tools)"
APPROVALS = ("client", "page", "off")
_ASKED = {
    "client": "in the client if it can ask, else on the page or with: toolcrib approvals",
    "page": "on the page or with: toolcrib approvals",
}


@declare()
async def list_(surface: Surface) -> None:
    """List the profiles, their paths, and which require a token; tokens are never shown."""
    async with surface.reach() as client:
        found = await client.profile_list()
    if surface.answer(found):
        return
    show_table(["NAME", "PATH", "TOKEN", "OFFERS"], [_row(profile) for profile in found])


@declare()
@click.argument("name")
@repeatable(
    "--server",
    "servers",
    metavar="NAME",
    shell_complete=completion.servers,
    help="Offer only its tools; repeatable.",
)
@repeatable("--tool", "tools", metavar="PATTERN", help="Offer only these tools; repeatable.")
@click.option("--read-only", is_flag=True, help="Offer only read-only tools.")
@click.option("--search", is_flag=True, help="Offer search tools instead of the full list.")
@click.option("--plain-names", is_flag=True, help="Use the servers' own tool names where they are unique.")
@click.option("-k", "k", type=click.IntRange(1, 50), help="Number of tools that a search returns.")
@repeatable("--always-on", metavar="PATTERN", help="With --search, also offer these tools; repeatable.")
@click.option(
    "--approvals", type=click.Choice(APPROVALS), help="Where its clients are asked; see: profiles approvals."
)
@click.option("--replace", is_flag=True, help="Replace the profile of this name; its token stays.")
async def add(
    surface: Surface,
    servers: tuple[str, ...],
    tools: tuple[str, ...],
    always_on: tuple[str, ...],
    **options: Any,
) -> None:
    """Add the profile NAME; a running gateway serves it at once, at /mcp/NAME."""
    async with surface.reach() as client:
        added = await client.profile_add(
            servers=list(servers), tools=list(tools), always_on=list(always_on) or None, **options
        )
    if surface.answer(added):
        return
    say(f"{added['name']} is served at {added['path']}: {_summary(added)}.")
    if not added["token"]:
        make = f"toolcrib profiles token {added['name']}"
        note(f"All users of this machine can use it. To require a token: {make}")


@declare(asks=True)
@click.argument("name", shell_complete=completion.profiles)
async def remove(surface: Surface, name: str) -> None:
    """Remove the profile NAME; its clients are disconnected, and its token becomes invalid."""
    async with surface.reach() as client:
        # An unknown name fails without asking.
        if name in [profile["name"] for profile in await client.profile_list()]:
            surface.ask(f"Remove the profile {name}?", refused=f"{name} was not removed.")
        outcome = await client.profile_remove(name=name)
    if not surface.answer(outcome):
        say(f"{name} is removed.")


@declare(asks=True)
@click.argument("name", default="", shell_complete=completion.profiles)
@click.option(
    "--revoke", is_flag=True, help="Remove the token; all users of this machine can then use the profile."
)
async def token(surface: Surface, name: str, revoke: bool) -> None:
    """Make a token for the profile NAME, or for all tools at /mcp, and show it once.

    Only its hash is stored. A new token invalidates the old one and disconnects its clients.
    """
    from toolcrib.config.tokens import hash_token, new_token, tail_of

    made = "" if revoke else new_token()
    async with surface.reach() as client:
        before = _find(await client.profile_list(), name)
        if before["token"]:
            surface.ask(_question(before, revoke), refused="The token was not changed.")
        token_hash = hash_token(made) if made else ""
        profile = await client.profile_token(name=name, token_hash=token_hash, tail=tail_of(made))
    if surface.answer({"name": profile["name"], "path": profile["path"], "token": made or None}):
        return
    if revoke:
        say(f"{profile['path']} no longer requires a token.")
        return
    say(made)
    note(f"Clients of {profile['path']} send it as: Authorization: Bearer TOKEN. It is not shown again.")


@declare()
@click.argument("approvals", type=click.Choice(APPROVALS))
@click.argument("name", default="", shell_complete=completion.profiles)
async def approvals(surface: Surface, approvals: ClientApprovals, name: str) -> None:
    """Set where clients of the profile NAME, or of all tools at /mcp, are asked.

    It is about calls of Toolcrib's own tools that send, invite or delete. client: in the client if it can
    ask, else on the page. page: only on the page. off: these calls run without approval.
    """
    async with surface.reach() as client:
        profile = await client.profile_approvals(name=name, approvals=approvals)
    if surface.answer(profile):
        return
    asked = _ASKED.get(profile["approvals"])
    how = f"ask first, {asked}" if asked else "run without approval"
    say(f"{profile['path']}: calls of Toolcrib's own tools that send, invite or delete {how}.")


def _find(profiles: list[ProfileShown], name: str) -> ProfileShown:
    for profile in profiles:
        if profile["name"] == name:
            return profile
    from toolcrib.config.settings_file import unknown_profile

    raise unknown_profile(name, [profile["name"] for profile in profiles if profile["name"]])


def _question(profile: ProfileShown, revoke: bool) -> str:
    if revoke:
        return f"Let all users of this machine use {profile['path']}?"
    return f"{profile['path']} has a token. Replace it with a new one?"


def _row(profile: ProfileShown) -> list[str]:
    token = "required" if profile["token"] else "-"
    return [profile["name"] or WHOLE, profile["path"], token, _summary(profile)]


def _summary(profile: ProfileShown) -> str:
    parts = [
        f"tools of {', '.join(profile['servers'])}" if profile["servers"] else "",
        f"only {', '.join(profile['tools'])}" if profile["tools"] else "",
        "read-only" if profile["read_only"] else "",
        "search tools" if profile["search"] else "",
        "plain names" if profile["plain_names"] else "",
        "" if profile["approvals"] == "client" else f"approvals: {profile['approvals']}",
    ]
    return ", ".join(part for part in parts if part) or "everything"


command = command_of(
    "profiles",
    "Host",
    "List and change the profiles of the gateway, and their tokens.",
    list_,
    add,
    remove,
    token,
    approvals,
)
