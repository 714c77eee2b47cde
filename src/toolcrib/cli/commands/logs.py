"""`toolcrib logs`: print the log of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.output import note, print_json, say
from toolcrib.cli.surface import Surface

if TYPE_CHECKING:
    from toolcrib.operations.results.servers import LogBatch, LogLine


@declare("Servers")
@click.argument("name", shell_complete=completion.servers)
@click.option("--follow", "-f", is_flag=True, help="Keep printing new lines.")
@click.option(
    "--lines",
    "-n",
    "count",
    type=click.IntRange(0, 100_000),
    default=100,
    show_default=True,
    help="Number of last lines.",
)
async def command(surface: Surface, name: str, follow: bool, count: int) -> None:
    """Print what NAME wrote to stderr."""
    async with surface.reach() as client:
        found = await client.logs(
            name=name, count=count, follow=follow, on_event=lambda event: _show(surface, event)
        )
    if surface.answer(found):
        return
    for line in found["lines"]:
        say(line)
    if not found["lines"]:
        note(f"The log of {name} is empty.")


def _show(surface: Surface, event: LogLine | LogBatch) -> None:
    if surface.json:
        print_json(event)
    elif "line" in event:
        say(event["line"])
