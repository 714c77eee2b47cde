"""Prompts: those of all servers under public names, rendered by the server they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolcrib.errors import ToolcribError
from toolcrib.gateway.kinds import PROMPTS
from toolcrib.gateway.relay import as_refusal, pass_on
from toolcrib.gateway.wire import Wire
from toolcrib.serverkit.protocol import INVALID_PARAMS, Refusal, Request

if TYPE_CHECKING:
    from toolcrib.gateway.client import Front


async def list_prompts(front: Front, request: Request, wire: Wire) -> dict[str, Any]:
    """All of them on one page."""
    return await front.gateway.page(PROMPTS, request)


async def get_prompt(front: Front, request: Request, wire: Wire) -> dict[str, Any]:
    """Ask the prompt's server for its messages."""
    name = request.params.get("name")
    if not isinstance(name, str):
        raise Refusal(INVALID_PARAMS, "The name of the prompt is missing.")
    found = await front.gateway.find_listed(PROMPTS, name)
    if found is None:
        raise Refusal(INVALID_PARAMS, f"Unknown prompt: {name}")
    server, definition = found
    try:
        return await pass_on(front, request, wire, server, {"name": definition["name"]})
    except ToolcribError as error:
        raise as_refusal(error) from None


METHODS = {"prompts/list": list_prompts, "prompts/get": get_prompt}
