"""`toolcrib approvals`: questions that came when nobody was there, and their answers."""

from __future__ import annotations

from typing import Any

import click

from toolcrib.cli.declare import declare
from toolcrib.cli.group import command_of
from toolcrib.cli.output import note, say
from toolcrib.cli.safe_text import revealed
from toolcrib.cli.surface import Surface

SCOPES = ("once", "chat", "project", "always")
_LIFTED = {
    "tool": "lets content from outside cause calls of this tool in this session",
    "turn": "lets it cause any call until the answer ends",
    "session": "lets it cause any call in this session",
}


@declare()
async def list_(surface: Surface) -> None:
    """Show the calls that wait for a word of yours, exactly as they would run."""
    async with surface.reach() as crib:
        found = await crib.run("approvals")
    if surface.answer(found):
        return
    if not found:
        note("Nothing waits.")
    for one in found:
        say(f"{one['id']}  {one['principal']}  {one['asked_at']}")
        say("  " + revealed(one["call"].replace("\n", "\v")).replace("\\x0b", "\n  "))
        for reason in one["reasons"]:
            say(f"  # {revealed(reason)}")
        for scope, rules in one.get("rules", {}).items():
            say(f"  --scope {scope} writes {rules['allow']}")
        for scope, rules in one.get("tool_rules", {}).items():
            say(f"  --scope {scope} --any-arguments writes {rules['allow']}")
        for lift in one.get("lifts", ()):
            say(f"  --lift {lift} {_LIFTED[lift]}")


@declare()
@click.argument("question")
@click.option("--scope", type=click.Choice(SCOPES), default="once", help="For how long.")
@click.option("--any-arguments", is_flag=True, help="For every call of a tool that only reads.")
@click.option(
    "--lift", type=click.Choice(tuple(_LIFTED)), help="How far content from outside may act from now on."
)
async def allow(surface: Surface, question: str, scope: str, any_arguments: bool, lift: str | None) -> None:
    """Let the call of QUESTION run."""
    params = {"id": question, "allow": True, "scope": scope, "any_arguments": any_arguments, "lift": lift}
    await _answer(surface, params)


@declare()
@click.argument("question")
@click.option("--message", default="", metavar="TEXT", help="Told to whoever made the call.")
@click.option("--scope", type=click.Choice(SCOPES), default="once", help="For how long.")
async def deny(surface: Surface, question: str, message: str, scope: str) -> None:
    """Refuse the call of QUESTION."""
    await _answer(surface, {"id": question, "allow": False, "message": message, "scope": scope})


async def _answer(surface: Surface, params: dict[str, Any]) -> None:
    async with surface.reach() as crib:
        outcome = await crib.run("approval_answer", params)
    if not surface.answer(outcome):
        say(f"{outcome['id']} is {'allowed' if outcome['allowed'] else 'refused'}.")


command = command_of("approvals", "Tools", "Calls that wait for a word of yours.", list_, allow, deny)
