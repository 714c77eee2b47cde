"""`toolcrib audit`: who called what, and how it went."""

from __future__ import annotations

from typing import Any, get_args

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.output import note
from toolcrib.cli.surface import Surface
from toolcrib.cli.tables import show_table
from toolcrib.cli.times import duration, local, parse_since, size
from toolcrib.schema.tools import Outcome


@declare("Tools")
@click.option("--limit", "-n", type=click.IntRange(1, 100_000), default=50, show_default=True)
@click.option("--tool", help="Calls of this tool.", shell_complete=completion.tools)
@click.option("--server", help="Calls of this server's tools.", shell_complete=completion.servers)
@click.option("--principal", help="Calls on this one's behalf: cli, python, agent …")
@click.option("--outcome", type=click.Choice(get_args(Outcome)), help="Calls that ended so.")
@click.option("--since", metavar="TIME", help="Calls since then: 30m, 2h, 7d, or a date and time.")
async def command(surface: Surface, limit: int, since: str | None, **filters: str | None) -> None:
    """Show the calls that went through the door, newest first."""
    moment = parse_since(since).isoformat() if since else None
    async with surface.reach() as crib:
        found = await crib.run("audit", {"limit": limit, "since": moment, **filters})
    if surface.answer(found):
        return
    if not found:
        note("No calls.")
        return
    headers = ["TIME", "TOOL", "BY", "OUTCOME", "TOOK", "SIZE", "ARGUMENTS"]
    show_table(headers, [_row(record) for record in found], right=(4, 5), colour=_colour)


def _row(record: dict[str, Any]) -> list[str]:
    return [
        local(record["time"]),
        record["tool"],
        record["principal"],
        record["outcome"],
        duration(record["ms"]),
        size(record["bytes"]),
        record["error"] or record["arguments"],
    ]


def _colour(column: int, text: str) -> str:
    if column != 3:
        return ""
    return "green" if text == "ok" else "red"
