"""`toolcrib models`: list model vendors, the keys found for them and servers on this machine, or the models
of one vendor with context length and price.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.output import note, say, show_table
from toolcrib.cli.surface import Surface

if TYPE_CHECKING:
    from toolcrib.operations.client import Client, ListedModel, LocalServer, Vendor


@declare("Models")
@click.argument("vendor", required=False, default="", shell_complete=completion.vendors)
async def command(surface: Surface, vendor: str) -> None:
    """List model vendors, the keys found for them, and model servers on this machine.

    With VENDOR: its models, with context length and price.

    A model is named vendor:model. Keys are looked up in the environment and the secrets.
    """
    async with surface.reach() as client:
        await (_show_models(surface, client, vendor) if vendor else _show_vendors(surface, client))


async def _show_vendors(surface: Surface, client: Client) -> None:
    found = await client.models()
    local = await client.local_models()
    if surface.answer({**found, "local": local}):
        return
    show_table(["VENDOR", "KEY", "ADDRESS"], [_row(vendor) for vendor in found["vendors"]], colour=_colour)
    for vendor in found["vendors"]:
        for model in vendor["models"]:
            say(f"  {vendor['vendor']}:{model}")
    for server in local:
        _tell_of(server)
    chosen = found["model"]
    note(f"Default model: {chosen}." if chosen else _HOW)
    note("List the models of a vendor, with prices: toolcrib models VENDOR")


async def _show_models(surface: Surface, client: Client, vendor: str) -> None:
    found = await client.model_list(vendor=vendor)
    if surface.answer(found):
        return
    if found["models"]:
        headers = ["MODEL", "CONTEXT", "INPUT", "OUTPUT"]
        show_table(headers, [_model_row(vendor, model) for model in found["models"]], right=(1, 2, 3))
        note("Prices are in dollars for a million tokens; - means unknown.")
    if not found["listed"]:
        note(
            f"These are the models that this version knows. {found['reason']}"
            if found["models"]
            else found["reason"]
        )
    elif not found["models"]:
        note(f"{vendor} lists no models.")


_HOW = "No default model. Set one with --model, TOOLCRIB_MODEL, or: toolcrib settings set agent.model NAME"


def _tell_of(server: LocalServer) -> None:
    note(
        f"Found {server['title']} at {server['address']} with {', '.join(server['models'][:3])}. Add it with:"
    )
    note(f"  toolcrib settings set agent.endpoints.{server['name']}.url {server['address']}")


def _model_row(vendor: str, model: ListedModel) -> list[str]:
    context = f"{model['context']:,}" if model["context"] else "-"
    return [f"{vendor}:{model['name']}", context, _price(model["input"]), _price(model["output"])]


def _price(dollars: float | None) -> str:
    return "-" if dollars is None else f"${dollars:g}" if dollars else "free"


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
