"""Completion of an argument, by the server of the prompt or resource template."""

from __future__ import annotations

from typing import Any

from toolcrib.errors import ToolcribError
from toolcrib.gateway.client import GatewayClient, as_refusal, forward
from toolcrib.gateway.definitions import PROMPTS, TEMPLATES
from toolcrib.gateway.gateway import Gateway
from toolcrib.gateway.wire import Wire
from toolcrib.serverkit.protocol import INVALID_PARAMS, Refusal, Request


async def complete(client: GatewayClient, request: Request, wire: Wire) -> dict[str, Any]:
    """Forward the request; a server without completion has no suggestions."""
    reference = request.params.get("ref")
    if not isinstance(reference, dict):
        raise Refusal(INVALID_PARAMS, "ref is required.")
    server, own = await _resolve(client.gateway, reference)
    try:
        if not (await client.gateway.catalog.session(server)).offers("completions"):
            return {"completion": {"values": [], "total": 0, "hasMore": False}}
        return await forward(client, request, wire, server, {"ref": own})
    except ToolcribError as error:
        raise as_refusal(error) from None


async def _resolve(gateway: Gateway, reference: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The server, and the reference as the server knows it."""
    name, uri = reference.get("name"), reference.get("uri")
    if reference.get("type") == "ref/prompt" and isinstance(name, str):
        found = await gateway.find_listed(PROMPTS, name)
        if found is not None:
            return found[0], {**reference, "name": found[1]["name"]}
    elif reference.get("type") == "ref/resource" and isinstance(uri, str):
        found = await gateway.find_listed(TEMPLATES, uri)
        server = found[0] if found is not None else await gateway.catalog.owner(uri)
        if server is not None:
            return server, reference
    raise Refusal(INVALID_PARAMS, f"Unknown prompt or resource template: {name or uri!r}.")


METHODS = {"completion/complete": complete}
