"""OpenAI's responses: `openai-responses:gpt-…`. Nothing stays at the vendor; reasoning travels encrypted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolcrib.llm.context import ModelContext
from toolcrib.llm.gathering import Gathering
from toolcrib.llm.history import joined
from toolcrib.llm.model import ModelEvent, Request, TextDelta, ThinkingDelta, Traits
from toolcrib.llm.providers.openai import CONTEXT, authorisation
from toolcrib.llm.providers.openai import VENDOR as CHAT_VENDOR
from toolcrib.llm.refusals import complain
from toolcrib.llm.sending import Outgoing
from toolcrib.llm.vendor_model import VendorModel
from toolcrib.schema.messages import (
    FromModel,
    FromPerson,
    FromTools,
    Image,
    Message,
    Opaque,
    Text,
    ToolAnswer,
    ToolUse,
    Usage,
)

VENDOR = replace(CHAT_VENDOR, name="openai-responses")
_REASONING = ("o1", "o3", "o4", "gpt-5", "gpt-6", "codex")
"""How the names of models begin that reason; others refuse to be asked for it."""
Json = dict[str, Any]


def open_model(model: str, context: ModelContext) -> VendorModel:
    """One model."""
    return VendorModel(Responses(model, context), context)


class Responses:
    """A model behind responses."""

    form = "openai-responses"

    def __init__(self, model: str, context: ModelContext) -> None:
        self.name = context.name_of(VENDOR, model)
        self._model = model
        self._context = context

    async def traits(self) -> Traits:
        """What it holds is as the settings say; the protocol does not tell."""
        return Traits(context_tokens=self._context.context_tokens or CONTEXT)

    async def outgoing(self, request: Request) -> Outgoing:
        """The request as the vendor wants it."""
        address = self._context.address_of(VENDOR)
        key_name, headers = await authorisation(self._context, VENDOR, address)
        return Outgoing(
            vendor=VENDOR,
            url=f"{address}/responses",
            headers=headers,
            body=self._body(request),
            key_name=key_name,
        )

    def reading(self) -> _Reading:
        """For one answer."""
        return _Reading()

    def _body(self, request: Request) -> Json:
        body: Json = {
            "model": self._model,
            "input": _items(request.messages),
            "stream": True,
            "store": False,
        }
        if self._model.startswith(_REASONING):
            body["include"] = ["reasoning.encrypted_content"]
        if request.system:
            body["instructions"] = request.system
        if request.tools:
            body["tools"] = list(request.tools)
        limit = request.max_tokens or self._context.max_tokens
        if limit:
            body["max_output_tokens"] = limit
        if request.temperature is not None:
            body["temperature"] = request.temperature
        return body


def _items(messages: Sequence[Message]) -> list[Json]:
    items: list[Json] = []
    for message in joined(messages):
        if isinstance(message, FromPerson):
            items.append({"role": "user", "content": [_part(part) for part in message.parts]})
        elif isinstance(message, FromModel):
            items += [item for part in message.parts if (item := _spoken(part)) is not None]
        elif isinstance(message, FromTools):
            items += [_result(answer) for answer in message.answers]
    return items


def _part(part: Text | Image) -> Json:
    if isinstance(part, Text):
        return {"type": "input_text", "text": part.text}
    return {"type": "input_image", "image_url": f"data:{part.mime};base64,{part.data}"}


def _spoken(part: Text | ToolUse | Opaque) -> Json | None:
    if isinstance(part, Text):
        return {"role": "assistant", "content": [{"type": "output_text", "text": part.text}]}
    if isinstance(part, Opaque):
        return dict(part.data) if part.vendor == VENDOR.name else None
    return {
        "type": "function_call",
        "call_id": part.id,
        "name": part.name,
        "arguments": json.dumps(dict(part.arguments), ensure_ascii=False),
    }


def _result(answer: ToolAnswer) -> Json:
    output: str | list[Json] = answer.text
    if answer.images:
        output = [_part(part) for part in answer.parts]
    return {"type": "function_call_output", "call_id": answer.id, "output": output}


class _Reading:
    """Reads the events of one answer; what counts is each item as it is when it is done."""

    def __init__(self) -> None:
        self.gathering = Gathering()
        self._said = False

    def take(self, event: Json) -> list[ModelEvent]:
        """One event."""
        if event.get("object") == "response":
            return self._whole(event)
        kind = event.get("type")
        if kind in ("response.output_text.delta", "response.refusal.delta"):
            self._said = True
            self.gathering.say(event["delta"])
            return [TextDelta(event["delta"])]
        if kind == "response.reasoning_summary_text.delta":
            return [ThinkingDelta(event["delta"])]
        if kind == "response.output_item.done":
            return self._item(event.get("item") or {})
        if kind in ("response.completed", "response.incomplete"):
            self._end(event.get("response") or {})
        elif kind == "response.failed":
            raise complain(VENDOR, (event.get("response") or {}).get("error"))
        elif kind == "error":
            raise complain(VENDOR, event.get("error") or event)
        return []

    def rest(self) -> list[ModelEvent]:
        """Nothing: calls come whole."""
        return []

    def _whole(self, response: Json) -> list[ModelEvent]:
        self._end(response)
        return [told for item in response.get("output") or () for told in self._item(item)]

    def _item(self, item: Json) -> list[ModelEvent]:
        kind = item.get("type")
        if kind == "function_call":
            return [self.gathering.call(item.get("call_id") or "", item.get("name") or "", item["arguments"])]
        if kind == "reasoning" and item.get("encrypted_content"):
            kept: Json = {
                key: item[key] for key in ("type", "id", "summary", "encrypted_content") if key in item
            }
            self.gathering.keep(Opaque(vendor=VENDOR.name, data=kept))
        if kind == "message":
            return self._unsaid(item)
        return []

    def _unsaid(self, item: Json) -> list[ModelEvent]:
        """The words of a message that came whole, without having been streamed."""
        said, self._said = self._said, False
        if said:
            return []
        text = "".join(part.get("text", "") for part in item.get("content") or ())
        self.gathering.say(text)
        return [TextDelta(text)] if text else []

    def _end(self, response: Mapping[str, Any]) -> None:
        self.gathering.end()
        why = (response.get("incomplete_details") or {}).get("reason")
        if why:
            self.gathering.reason = "refused" if why == "content_filter" else "length"
        usage = response.get("usage") or {}
        details = usage.get("input_tokens_details") or {}
        self.gathering.usage = Usage(
            input=usage.get("input_tokens") or 0,
            output=usage.get("output_tokens") or 0,
            cached=details.get("cached_tokens") or 0,
            requests=1,
        )
