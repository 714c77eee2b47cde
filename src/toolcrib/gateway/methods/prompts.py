"""Prompts of all servers under public names, rendered by their servers."""

from __future__ import annotations

from typing import Any

from toolcrib.errors import ToolcribError
from toolcrib.gateway.client import GatewayClient, as_refusal, forward
from toolcrib.gateway.definitions import PROMPTS
from toolcrib.gateway.wire import Wire
from toolcrib.serverkit.protocol import INVALID_PARAMS, Refusal, Request


async def list_prompts(client: GatewayClient, request: Request, wire: Wire) -> dict[str, Any]:
    return await client.gateway.page(PROMPTS, request)


async def get_prompt(client: GatewayClient, request: Request, wire: Wire) -> dict[str, Any]:
    name = request.params.get("name")
    if not isinstance(name, str):
        raise Refusal(INVALID_PARAMS, "The name of the prompt is missing.")
    found = await client.gateway.find_listed(PROMPTS, name)
    if found is None:
        raise Refusal(INVALID_PARAMS, f"Unknown prompt: {name}")
    server, definition = found
    try:
        return await forward(client, request, wire, server, {"name": definition["name"]})
    except ToolcribError as error:
        raise as_refusal(error) from None


METHODS = {"prompts/list": list_prompts, "prompts/get": get_prompt}
