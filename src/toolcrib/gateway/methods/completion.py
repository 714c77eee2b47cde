"""Completion: what the beginning of an argument may mean, asked of the prompt's or template's server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolcrib.errors import ToolcribError
from toolcrib.gateway.kinds import PROMPTS, TEMPLATES
from toolcrib.gateway.relay import as_refusal, pass_on
from toolcrib.gateway.wire import Wire
from toolcrib.serverkit.protocol import INVALID_PARAMS, Refusal, Request

if TYPE_CHECKING:
    from toolcrib.gateway.client import Front
    from toolcrib.gateway.gateway import Gateway


async def complete(front: Front, request: Request, wire: Wire) -> dict[str, Any]:
    """Pass the question on; a server that completes nothing has no suggestions."""
    reference = request.params.get("ref")
    if not isinstance(reference, dict):
        raise Refusal(INVALID_PARAMS, "ref is missing.")
    server, own = await _resolve(front.gateway, reference)
    try:
        if not (await front.gateway.catalog.session(server)).offers("completions"):
            return {"completion": {"values": [], "total": 0, "hasMore": False}}
        return await pass_on(front, request, wire, server, {"ref": own})
    except ToolcribError as error:
        raise as_refusal(error) from None


async def _resolve(gateway: Gateway, reference: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The server that is meant, and the reference as it knows it."""
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
    raise Refusal(INVALID_PARAMS, f"There is no prompt or resource template {name or uri!r}.")


METHODS = {"completion/complete": complete}
