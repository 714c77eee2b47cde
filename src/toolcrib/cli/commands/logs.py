"""`toolcrib logs`: print the log of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.output import note, print_json, say
from toolcrib.cli.surface import Surface
from toolcrib.cli.times import local

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
    """Print what NAME wrote to stderr, and what happened to it (marked with *), with local times."""
    async with surface.reach() as client:
        found = await client.logs(
            name=name, count=count, follow=follow, on_event=lambda event: _show(surface, event)
        )
    if surface.answer(found):
        return
    events = set(found["events"])
    for index, (line, time) in enumerate(zip(found["lines"], found["times"], strict=True)):
        say(_text(line, time, is_event=index in events))
    if not found["lines"]:
        note(f"The log of {name} is empty.")


def _show(surface: Surface, event: LogLine | LogBatch) -> None:
    if surface.json:
        print_json(event)
    elif "line" in event:
        say(_text(event["line"], event["time"], is_event=event["is_event"]))


def _text(line: str, time: str | None, *, is_event: bool) -> str:
    words = f"* {line}" if is_event else line
    return f"{local(time)}  {words}" if time else words
