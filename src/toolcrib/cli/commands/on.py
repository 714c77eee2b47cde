"""`toolcrib on`: the master switch."""

from __future__ import annotations

from toolcrib.cli.declare import declare
from toolcrib.cli.output import say
from toolcrib.cli.surface import Surface


@declare("Host")
async def command(surface: Surface) -> None:
    """Turn the master switch on: enabled servers may run."""
    async with surface.reach() as crib:
        outcome = await crib.run("on")
    if not surface.answer(outcome):
        say("Everything is on.")
