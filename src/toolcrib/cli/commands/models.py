"""`toolcrib models`: which language models can be asked."""

from __future__ import annotations

from typing import Any

from toolcrib.cli.declare import declare
from toolcrib.cli.output import note, say
from toolcrib.cli.surface import Surface
from toolcrib.cli.tables import show_table


@declare("Models")
async def command(surface: Surface) -> None:
    """List the model vendors, the keys found for them, and the models of Ollama.

    A model is named vendor:model. Keys are looked for in the environment and among the secrets.
    """
    async with surface.reach() as crib:
        found = await crib.run("models")
    if surface.answer(found):
        return
    show_table(["VENDOR", "KEY", "ADDRESS"], [_row(one) for one in found["vendors"]], colour=_colour)
    for vendor in found["vendors"]:
        for model in vendor["models"]:
            say(f"  {vendor['vendor']}:{model}")
    chosen = found["model"]
    note(f"Asked when nobody says otherwise: {chosen}." if chosen else _HOW)


_HOW = "None is chosen: name one with --model, in TOOLCRIB_MODEL, or in the settings (agent.model)."


def _row(vendor: dict[str, Any]) -> list[str]:
    if vendor["key"]:
        key = f"{vendor['key']} ({vendor['place']})"
    elif vendor["vendor"] == "ollama":
        key = "answers" if vendor["ready"] else "does not answer"
    else:
        key = f"missing: {vendor['keys'][0]}" if vendor["keys"] else "not needed"
    return [vendor["vendor"], key, vendor["address"] or "-"]


def _colour(column: int, text: str) -> str:
    return "dim" if column == 1 and text.startswith(("missing", "does not")) else ""
