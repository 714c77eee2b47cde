"""`toolcrib tools`: what can be called; the other modules of this folder are its further forms."""

from __future__ import annotations

from typing import Any

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import Seconds, declare
from toolcrib.cli.forms import FormedCommand
from toolcrib.cli.output import counted, note
from toolcrib.cli.surface import Surface
from toolcrib.cli.tables import show_table

WAIT = 20.0
"""Seconds for servers that must first be started."""
BRIEF = 2.0


def _first_words(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    forms = [form for form in FormedCommand("tools").forms() if form.startswith(incomplete)]
    return [*completion.servers(context, parameter, incomplete), *forms]


@declare("Tools", cls=FormedCommand)
@click.argument("server", required=False, shell_complete=_first_words)
@click.option("--all", "everything", is_flag=True, help="Also those that are switched off.")
@click.option("--wait", type=Seconds(0, 3600), help="Wait so many seconds for servers to start.")
async def command(surface: Surface, server: str | None, everything: bool, wait: float | None) -> None:
    """List the tools of all servers, or of SERVER.

    TOKENS is about what a tool costs in each prompt that offers it.

    `toolcrib tools search QUESTION` finds those that a question needs.
    """
    async with surface.reach() as crib:
        patience = wait if wait is not None else _patience(server, running=crib.running)
        found = await crib.run("tools", {"server": server, "disabled": everything, "wait": patience})
        if not surface.answer(found):
            _show(found, server)


def _patience(server: str | None, *, running: bool) -> float:
    """In a running host, one server that hangs must not keep all the others' tools from being seen."""
    return BRIEF if running and server is None else WAIT


def _show(found: list[dict[str, Any]], server: str | None) -> None:
    if not found:
        note(f"No tools{f' of {server}' if server else ''} at the moment. See: toolcrib servers")
        return
    headers = ["NAME", "TOKENS", "DESCRIPTION"]
    show_table(headers, [_row(tool) for tool in found], right=(1,), colour=_colour)
    tokens = sum(tool["tokens"] for tool in found if tool["enabled"])
    servers = len({tool["server"] for tool in found})
    tools, of = counted(len(found), "tool"), counted(servers, "server")
    note(f"{tools} of {of}, about {tokens:,} tokens in a prompt.")


def _row(tool: dict[str, Any]) -> list[str]:
    signs = [sign for sign, here in (("(off)", not tool["enabled"]), ("(last known)", tool["stale"])) if here]
    return [tool["name"], str(tool["tokens"]), " ".join([*signs, _first_line(tool["description"])])]


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")


def _colour(column: int, text: str) -> str:
    return "cyan" if column == 0 else ""
