"""`toolcrib export`: show or write the servers in the format of another MCP host; its options and output,
such as variables to set.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare, repeatable
from toolcrib.cli.output import note, say
from toolcrib.cli.safe_text import one_line
from toolcrib.cli.surface import Surface
from toolcrib.features.clients.commands import client_completion

if TYPE_CHECKING:
    from toolcrib.operations.client import Exported


@declare("Servers", asks=True)
@click.argument("host", shell_complete=client_completion)
@repeatable(
    "--only", metavar="NAME", help="Export only this server; repeatable.", shell_complete=completion.servers
)
@click.option("--write", is_flag=True, help="Write them to the host's file, after asking.")
@click.option("--file", type=click.Path(path_type=Path), help="Use this file instead of the host's default.")
async def command(surface: Surface, host: str, only: tuple[str, ...], write: bool, file: Path | None) -> None:
    """Show the servers in the config format of HOST.

    Secrets are never written: they are replaced by variables, in the syntax of the host.
    """
    from toolcrib.features.clients.transfer.sources import known_host

    known, servers, target = known_host(host), list(only), _absolute(file)
    async with surface.reach() as client:
        outcome = await client.export(host=known, only=servers, file=target)
        if write and outcome["changes"]:
            if not surface.json:
                _show(outcome)
            verb = "Change" if outcome["replaces"] else "Write"
            surface.ask(f"{verb} {outcome['file']}?", refused=f"{outcome['title']} was not changed.")
            outcome = await client.export(host=known, only=servers, file=target, write=True)
    if surface.answer(outcome):
        return
    if not write:
        _show(outcome)
        return
    say(f"{outcome['file']} is {'written' if outcome['written'] else 'already up to date'}.")
    if outcome["written"] and outcome["backup"]:
        note(f"The previous file is kept as {outcome['backup']}.")


def _absolute(file: Path | None) -> str | None:
    return str(file.absolute()) if file else None


def _show(outcome: Exported) -> None:
    note(f"For {outcome['title']}, in {outcome['file']}:")
    say(outcome["document"].rstrip("\n"))
    for server in outcome["servers"]:
        name = one_line(server["name"])
        for remark in server["notes"]:
            note(f"{name}: {remark}")
        for variable in server["variables"]:
            secret = f" to the secret {variable['secret']}" if variable["secret"] else ""
            where = f"in the environment of {outcome['title']}"
            note(f"{name}: set {variable['name']}{secret} {where}.")
    for name, reason in outcome["left_out"].items():
        note(f"{one_line(name)}: skipped, {reason}")
