"""`toolcrib update`: install another version of a server; the one before is kept."""

from __future__ import annotations

from typing import Any

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.install_view import end_line, make_plan, options, progress_line, show_plan, whole
from toolcrib.cli.output import note, say
from toolcrib.cli.surface import Surface


@declare("Servers", asks=True)
@click.argument("name", shell_complete=completion.servers)
@click.argument("reference", required=False, metavar="[FILE]")
@click.option("--to", metavar="VERSION", help="This version, newer or older, instead of the newest.")
@options
async def command(surface: Surface, name: str, reference: str | None, dry_run: bool, **given: Any) -> None:
    """Install the newest version of NAME, or the one in FILE.

    The version before stays in place: toolcrib rollback NAME
    """
    tell = progress_line()
    params = {"name": name, "reference": whole(reference) if reference else None, **given}
    async with surface.reach() as crib:
        planned = await make_plan(surface, crib, "update", params, dry_run=dry_run)
        if planned["plan"] is None or dry_run:
            _tell_plan(surface, name, planned)
            return
        show_plan(name, planned["plan"])
        before, after = planned["before"]["version"], planned["plan"]["version"]
        surface.ask(f"Update {name} from {before} to {after}?", refused=f"{name} was not updated.")
        agreed = {"name": name, "offline": given["offline"], "agreed": planned["plan"]["digest"]}
        outcome = await crib.run("update", agreed, on_event=tell)
        end_line()
    if surface.answer(outcome):
        return
    say(f"{name} is updated to {outcome['installed']['version']}.")
    note(f"To go back: toolcrib rollback {name}")
    note(f"Tools that it now describes in other words wait for yours: toolcrib trust {name}")


def _tell_plan(surface: Surface, name: str, planned: dict[str, Any]) -> None:
    if surface.answer(planned):
        return
    if planned["plan"] is None:
        say(f"{name} has this version already: {planned['before']['version']}.")
    else:
        show_plan(name, planned["plan"])
