"""`toolcrib logs`: what a server wrote to stderr."""

from __future__ import annotations

from typing import Any

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.output import note, print_json, say
from toolcrib.cli.surface import Surface


@declare("Servers")
@click.argument("name", shell_complete=completion.servers)
@click.option("--follow", "-f", is_flag=True, help="Go on as it writes.")
@click.option(
    "--lines",
    "-n",
    "count",
    type=click.IntRange(0, 100_000),
    default=100,
    show_default=True,
    help="How many of the last lines.",
)
async def command(surface: Surface, name: str, follow: bool, count: int) -> None:
    """Show what NAME wrote to stderr."""
    async with surface.reach() as crib:
        params = {"name": name, "count": count, "follow": follow}
        found = await crib.run("logs", params, on_event=lambda event: _show(surface, event))
    if surface.answer(found):
        return
    for line in found["lines"]:
        say(line)
    if not found["lines"]:
        note(f"{name} has written nothing yet.")


def _show(surface: Surface, event: dict[str, Any]) -> None:
    if surface.json:
        print_json(event)
        return
    say(event["line"])
