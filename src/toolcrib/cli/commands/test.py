"""`toolcrib test`: try a server step by step."""

from __future__ import annotations

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.surface import Surface
from toolcrib.cli.trial import try_server

UNAVAILABLE = 5


@declare("Servers")
@click.argument("name", shell_complete=completion.servers)
async def command(surface: Surface, name: str) -> int:
    """Try NAME step by step, and review its tools.

    Starts another instance of it: resolve, spawn, handshake, list, each with its time.
    """
    async with surface.reach() as crib:
        outcome = await try_server(surface, crib, name)
        surface.answer(outcome)
    return 0 if outcome["ok"] else UNAVAILABLE
