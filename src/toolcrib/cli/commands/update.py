"""`toolcrib update`: install another version of a server; the previous one is kept."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.install_view import (
    absolute_reference,
    end_line,
    make_plan,
    options,
    progress_line,
    show_installed,
    show_plan,
)
from toolcrib.cli.output import note, say
from toolcrib.cli.surface import Surface

if TYPE_CHECKING:
    from toolcrib.operations.client import ServerUpdated


@declare("Servers", asks=True)
@click.argument("name", shell_complete=completion.servers)
@click.argument("reference", required=False, metavar="[FILE]")
@click.option("--to", metavar="VERSION", help="Install this version, newer or older.")
@options
async def command(
    surface: Surface, name: str, reference: str | None, offline: bool, dry_run: bool, **wanted: Any
) -> None:
    """Install the newest version of NAME, or the one in FILE.

    The previous version is kept. To go back: toolcrib rollback NAME
    """
    async with surface.reach() as client:
        file = absolute_reference(reference) if reference else None
        plan = partial(client.update, name=name, reference=file, offline=offline, **wanted)
        planned = await make_plan(surface, plan, name, dry_run=dry_run)
        if planned["plan"] is None or dry_run:
            _show_planned(surface, name, planned)
            return
        show_plan(name, planned["plan"])
        before, after = planned["before"]["version"], planned["plan"]["version"]
        surface.ask(f"Update {name} from {before} to {after}?", refused=f"{name} was not updated.")
        outcome = await client.update(
            name=name, offline=offline, agreed=planned["plan"]["digest"], on_event=progress_line()
        )
        end_line()
    if surface.answer(outcome):
        return
    show_installed(outcome["installed"])
    say(f"{name} is updated to {after}.")
    note(f"To go back: toolcrib rollback {name}")
    note(f"Tools whose definitions changed need your approval: toolcrib trust {name}")


def _show_planned(surface: Surface, name: str, planned: ServerUpdated) -> None:
    if surface.answer(planned):
        return
    if planned["plan"] is None:
        say(f"{name} already has this version: {planned['before']['version']}.")
    else:
        show_plan(name, planned["plan"])
