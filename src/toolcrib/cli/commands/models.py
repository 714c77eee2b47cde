"""`toolcrib models`: list model vendors and the keys found for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.cli.declare import declare
from toolcrib.cli.output import note, say, show_table
from toolcrib.cli.surface import Surface

if TYPE_CHECKING:
    from toolcrib.operations.client import Vendor


@declare("Models")
async def command(surface: Surface) -> None:
    """List model vendors, the keys found for them, and the models of Ollama.

    A model is named vendor:model. Keys are looked up in the environment and the secrets.
    """
    async with surface.reach() as client:
        found = await client.models()
    if surface.answer(found):
        return
    show_table(["VENDOR", "KEY", "ADDRESS"], [_row(vendor) for vendor in found["vendors"]], colour=_colour)
    for vendor in found["vendors"]:
        for model in vendor["models"]:
            say(f"  {vendor['vendor']}:{model}")
    chosen = found["model"]
    note(f"Default model: {chosen}." if chosen else _HOW)


_HOW = "No default model. Set one with --model, TOOLCRIB_MODEL, or: toolcrib settings set agent.model NAME"


def _row(vendor: Vendor) -> list[str]:
    if vendor["key"]:
        key = f"{vendor['key']} ({vendor['place']})"
    elif vendor["vendor"] == "ollama":
        key = "running" if vendor["ready"] else "not running"
    else:
        key = f"missing: {vendor['keys'][0]}" if vendor["keys"] else "not needed"
    return [vendor["vendor"], key, vendor["address"] or "-"]


def _colour(column: int, text: str) -> str:
    return "dim" if column == 1 and text.startswith(("missing", "not running")) else ""
