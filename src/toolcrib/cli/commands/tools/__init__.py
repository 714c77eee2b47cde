"""`toolcrib tools`: list the tools with their tokens, and those held for review; the other modules of this
folder are its subcommands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare, wait_option
from toolcrib.cli.group import FormedCommand
from toolcrib.cli.output import counted, note, show_table
from toolcrib.cli.surface import START_WAIT, Surface

if TYPE_CHECKING:
    from toolcrib.operations.client import Client
    from toolcrib.operations.results.tools import ToolInfo

PAGE = 500
"""Tools requested at a time."""


def _first_words(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    forms = [form for form in FormedCommand("tools").forms() if form.startswith(incomplete)]
    return [*completion.servers(context, parameter, incomplete), *forms]


@declare("Tools", cls=FormedCommand)
@click.argument("server", required=False, shell_complete=_first_words)
@click.option("--all", "everything", is_flag=True, help="Include tools that are switched off.")
@wait_option
async def command(surface: Surface, server: str | None, everything: bool, wait: float | None) -> None:
    """List the tools of all servers, or of SERVER.

    TOKENS is roughly what a tool costs in each prompt that offers it.

    `toolcrib tools search QUESTION` finds the tools for a question.
    """
    async with surface.reach() as client:
        # In the list of all tools, a server that hangs must not delay the others.
        seconds = surface.start_wait(wait, client, running=START_WAIT if server else 2.0)
        found = await _all_pages(client, server, everything, seconds)
        if not surface.answer(found):
            _show(found, server)


async def _all_pages(client: Client, server: str | None, disabled: bool, wait: float) -> list[ToolInfo]:
    found = page = await client.tools(server=server, disabled=disabled, wait=wait, limit=PAGE)
    while len(page) == PAGE:
        after = page[-1]["name"]
        page = await client.tools(server=server, disabled=disabled, wait=0, limit=PAGE, after=after)
        found = [*found, *page]
    return found


def _show(found: list[ToolInfo], server: str | None) -> None:
    if not found:
        note(f"No tools{f' of {server}' if server else ''} available. See: toolcrib servers")
        return
    headers = ["NAME", "TOKENS", "DESCRIPTION"]
    show_table(headers, [_row(tool) for tool in found], right=(1,), colour=_colour)
    tokens = sum(tool["tokens"] for tool in found if tool["enabled"])
    servers = len({tool["server"] for tool in found})
    note(
        f"{counted(len(found), 'tool')} of {counted(servers, 'server')}, about {tokens:,} tokens in a prompt."
    )
    for tool in found:
        if tool["held"]:
            note(f"{tool['name']} is held for review: {tool['held']}.")
    for name in dict.fromkeys(tool["server"] for tool in found if tool["held"]):
        note(f"Show and release what is held with: toolcrib trust {name}")


def _row(tool: ToolInfo) -> list[str]:
    states = (
        ("(held for review)", bool(tool["held"])),
        ("(off)", not tool["enabled"] and not tool["held"]),
        ("(cached)", tool["stale"]),
        ("(not answering)", tool["silent"]),
    )
    marks = [mark for mark, shown in states if shown]
    return [tool["name"], str(tool["tokens"]), " ".join([*marks, first_line(tool["description"])])]


def first_line(text: str) -> str:
    """The first line that is not empty."""
    return next((line for line in text.splitlines() if line.strip()), "")


def _colour(column: int, text: str) -> str:
    return "cyan" if column == 0 else ""
