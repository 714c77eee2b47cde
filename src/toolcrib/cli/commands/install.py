"""`toolcrib install`: put in place what the entry of a server asks for, for the first time or again."""

from __future__ import annotations

from typing import Any

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.install_view import end_line, make_plan, options, progress_line, show_plan
from toolcrib.cli.output import say
from toolcrib.cli.surface import Surface


@declare("Servers", asks=True)
@click.argument("name", shell_complete=completion.servers)
@click.option("--with", "also", multiple=True, metavar="REQUIREMENT", help="A Python package beside it.")
@options
async def command(surface: Surface, name: str, dry_run: bool, **given: Any) -> None:
    """Install what the entry of NAME asks for: after an import, or to repair it.

    A new server is installed with: toolcrib add npm:PACKAGE
    """
    tell = progress_line()
    async with surface.reach() as crib:
        planned = await make_plan(surface, crib, "install", {"name": name, **given}, dry_run=dry_run)
        if dry_run and surface.answer(planned):
            return
        show_plan(name, planned["plan"], planned["entry"])
        if dry_run:
            return
        surface.ask("Install it?", refused=f"{name} was not installed.")
        agreed = {"name": name, "offline": given["offline"], "agreed": planned["plan"]["digest"]}
        outcome = await crib.run("install", agreed, on_event=tell)
        end_line()
    if not surface.answer(outcome):
        say(f"{name} is installed: {outcome['installed']['package']} {outcome['installed']['version']}.")
