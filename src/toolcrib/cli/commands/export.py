"""`toolcrib export`: the servers of this crib in the words of another host; secrets as variables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.output import note, say
from toolcrib.cli.safe_text import one_line
from toolcrib.cli.surface import Surface


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from toolcrib.config.client_files.client import client_names

    return [name for name in client_names() if name.startswith(incomplete)]


@declare("Servers", asks=True)
@click.argument("host", shell_complete=_complete)
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Only this server; may be repeated.",
    shell_complete=completion.servers,
)
@click.option("--write", is_flag=True, help="Write them into the host's file, after a question.")
@click.option("--file", type=click.Path(path_type=Path), help="Another file than the host's usual one.")
async def command(surface: Surface, host: str, only: tuple[str, ...], write: bool, file: Path | None) -> None:
    """Show the servers as HOST would have them in its config file.

    A secret is never written: in its place stands a variable, in the form that the host knows.
    """
    from toolcrib.config.importing.finding import known_host

    asked = {"host": known_host(host), "only": list(only), "file": _absolute(file)}
    async with surface.reach() as crib:
        outcome = await crib.run("export", asked)
        if write and outcome["changes"]:
            if not surface.json:
                _show(outcome)
            verb = "Change" if outcome["replaces"] else "Write"
            surface.ask(f"{verb} {outcome['file']}?", refused=f"{outcome['title']} was not changed.")
            outcome = await crib.run("export", {**asked, "write": True})
    if surface.answer(outcome):
        return
    if not write:
        _show(outcome)
        return
    say(f"{outcome['file']} is {'written' if outcome['written'] else 'as it should be already'}.")
    if outcome["written"] and outcome["backup"]:
        note(f"The file as it was is kept as {outcome['backup']}.")


def _absolute(file: Path | None) -> str | None:
    return str(file.absolute()) if file else None


def _show(outcome: dict[str, Any]) -> None:
    note(f"For {outcome['title']}, in {outcome['file']}:")
    say(outcome["document"].rstrip("\n"))
    for one in outcome["servers"]:
        for remark in one["notes"]:
            note(f"{one_line(one['name'])}: {remark}")
        for variable in one["variables"]:
            secret = f" to the secret {variable['secret']}" if variable["secret"] else ""
            where = f"in the environment of {outcome['title']}"
            note(f"{one_line(one['name'])}: set {variable['name']}{secret} {where}.")
    for name, reason in outcome["left_out"].items():
        note(f"{one_line(name)}: left out, {reason}")
