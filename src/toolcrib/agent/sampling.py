"""A server's `sampling/createMessage` as a request to a model, and the answer as the server wants it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

from toolcrib.errors import ModelError, PeerError
from toolcrib.llm.model import Finished, Model, Request
from toolcrib.schema.messages import FromModel, FromPerson, Image, Message, StopReason, Text, Usage

INVALID_PARAMS = -32602
MOST_TOKENS = 8192
"""However much a server asks for."""
_REASONS: dict[StopReason, str] = {
    "end": "endTurn",
    "length": "maxTokens",
    "refused": "endTurn",
    "filtered": "endTurn",
    "calls": "toolUse",
}
Payload = dict[str, Any]


async def sample(model: Model, params: Payload) -> tuple[Payload, Usage]:
    """Ask the model what a server wants to know; no tools, no chat. The answer, and what it took."""
    request = read_request(params)
    async with aclosing(model.stream(request)) as events:
        async for event in events:
            if isinstance(event, Finished):
                answer = {
                    "role": "assistant",
                    "content": {"type": "text", "text": event.message.text},
                    "model": model.name,
                    "stopReason": _REASONS[event.reason],
                }
                return answer, event.usage
    raise ModelError(f"{model.name} ended without a word.")


def read_request(params: Payload) -> Request:
    """The request; raises `PeerError` for one that makes no sense."""
    messages = params.get("messages")
    if not isinstance(messages, list) or not messages:
        raise PeerError("messages must be a list with at least one message.", code=INVALID_PARAMS)
    limit, temperature = params.get("maxTokens"), params.get("temperature")
    stop = params.get("stopSequences")
    return Request(
        messages=[_message(one) for one in messages],
        system=str(params.get("systemPrompt") or ""),
        max_tokens=min(limit, MOST_TOKENS) if isinstance(limit, int) and limit > 0 else 1024,
        temperature=float(temperature) if isinstance(temperature, int | float) else None,
        stop=tuple(str(one) for one in stop) if isinstance(stop, list) else (),
    )


def asked_text(params: Payload) -> str:
    """What a server wants to know, for the person who decides."""
    request = read_request(params)
    said = [message.text for message in request.messages if isinstance(message, FromPerson | FromModel)]
    return "\n".join(part for part in (request.system, *said) if part)


def _message(data: Any) -> Message:
    if not isinstance(data, Mapping):
        raise PeerError("A message must be an object.", code=INVALID_PARAMS)
    content = data.get("content")
    blocks = content if isinstance(content, list) else [content]
    parts = [_part(block) for block in blocks if isinstance(block, Mapping)]
    if data.get("role") == "assistant":
        return FromModel(parts=tuple(part for part in parts if isinstance(part, Text)))
    return FromPerson(parts=tuple(parts))


def _part(block: Mapping[str, Any]) -> Text | Image:
    if block.get("type") == "image" and isinstance(block.get("data"), str):
        return Image(block["data"], str(block.get("mimeType") or "image/png"))
    return Text(str(block.get("text", f"({block.get('type', 'unknown')} that cannot be shown)")))
