"""`toolcrib audit`: list past calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.output import note, show_table
from toolcrib.cli.surface import Surface
from toolcrib.cli.times import duration, local, parse_since, size
from toolcrib.schema.tools import Outcome

if TYPE_CHECKING:
    from toolcrib.operations.results.calls import CallRecorded


@declare("Tools")
@click.option(
    "--limit", "-n", type=click.IntRange(1, 100_000), default=50, show_default=True, help="Maximum number."
)
@click.option("--tool", help="Only calls of this tool.", shell_complete=completion.tools)
@click.option("--server", help="Only calls of this server's tools.", shell_complete=completion.servers)
@click.option("--principal", help="Only calls by this caller: cli, python, agent …")
@click.option("--outcome", type=click.Choice(get_args(Outcome)), help="Only calls with this outcome.")
@click.option("--since", metavar="TIME", help="Only calls since 30m, 2h or 7d ago, or since a date and time.")
async def command(
    surface: Surface,
    limit: int,
    tool: str | None,
    server: str | None,
    principal: str | None,
    outcome: Outcome | None,
    since: str | None,
) -> None:
    """List past calls, newest first."""
    moment = parse_since(since).isoformat() if since else None
    async with surface.reach() as client:
        found = await client.audit(
            limit=limit, tool=tool, server=server, principal=principal, outcome=outcome, since=moment
        )
    if surface.answer(found):
        return
    if not found:
        note("No calls.")
        return
    headers = ["TIME", "TOOL", "BY", "OUTCOME", "TOOK", "SIZE", "ARGUMENTS"]
    show_table(headers, [_row(record) for record in found], right=(4, 5), colour=_colour)


def _row(record: CallRecorded) -> list[str]:
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
