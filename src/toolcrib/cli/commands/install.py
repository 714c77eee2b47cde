"""`toolcrib install`: install the package of a configured server, for the first time or again."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare, repeatable
from toolcrib.cli.install_view import end_line, make_plan, options, progress_line, show_installed, show_plan
from toolcrib.cli.output import say
from toolcrib.cli.surface import Surface


@declare("Servers", asks=True)
@click.argument("name", shell_complete=completion.servers)
@repeatable("--with", "also", metavar="REQUIREMENT", help="Another Python package to install.")
@options
async def command(surface: Surface, name: str, offline: bool, dry_run: bool, **packages: Any) -> None:
    """Install the package of NAME, after an import or to repair it.

    To install a new server: toolcrib add npm:PACKAGE
    """
    async with surface.reach() as client:
        plan = partial(client.install, name=name, offline=offline, **packages)
        planned = await make_plan(surface, plan, name, dry_run=dry_run)
        if dry_run and surface.answer(planned):
            return
        show_plan(name, planned["plan"], planned["entry"])
        if dry_run:
            return
        surface.ask("Install it?", refused=f"{name} was not installed.")
        outcome = await client.install(
            name=name, offline=offline, agreed=planned["plan"]["digest"], on_event=progress_line()
        )
        end_line()
    if not surface.answer(outcome) and outcome["installed"] is not None:
        show_installed(outcome["installed"])
        say(f"{name} is installed: {outcome['installed']['package']} {outcome['installed']['version']}.")
