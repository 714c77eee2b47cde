"""OpenAI's responses API: `openai-responses:gpt-…`. Nothing is stored at the vendor; reasoning is sent
encrypted. Lists the models that can be asked for reasoning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from toolcrib.llm.context import ModelContext
from toolcrib.llm.history import Limits, joined
from toolcrib.llm.http import VendorRequest
from toolcrib.llm.json_values import Json, count, encode, table, tables, text
from toolcrib.llm.known_models import known_model
from toolcrib.llm.model import CompletionRequest, ModelEvent, ModelTraits
from toolcrib.llm.model_limits import checked_effort
from toolcrib.llm.providers.openai import VENDOR as CHAT_VENDOR
from toolcrib.llm.providers.openai import answer_format, authorisation, chat_traits, list_models
from toolcrib.llm.stream_reader import AnswerBuilder
from toolcrib.llm.vendor_errors import complain
from toolcrib.llm.vendor_model import VendorModel
from toolcrib.schema.messages import (
    FromModel,
    FromTools,
    FromUser,
    Image,
    Message,
    Opaque,
    StopReason,
    Text,
    ToolAnswer,
    ToolUse,
    Usage,
)

__all__ = ["VENDOR", "list_models", "open_model"]

VENDOR = replace(CHAT_VENDOR, name="openai-responses", variant_of=CHAT_VENDOR.name)
_REASONING = ("o1", "o3", "o4", "gpt-5", "gpt-6", "codex")
"""Prefixes of reasoning models that are not known; others reject requests for reasoning."""


_REASONS: dict[str, StopReason] = {
    "": "length",
    "max_output_tokens": "length",
    "max_tokens": "length",
    "content_filter": "filtered",
}


def open_model(model: str, context: ModelContext) -> VendorModel:
    return VendorModel(Responses(model, context), context)


class Responses:
    form = "openai-responses"
    limits = Limits(call_id=re.compile(r"[A-Za-z0-9_-]{1,64}"))

    def __init__(self, model: str, context: ModelContext) -> None:
        self.name = context.name_of(VENDOR, model)
        self._model = model
        self._context = context
        self._traits: ModelTraits | None = None

    async def traits(self) -> ModelTraits:
        """The limits of the model; a server is asked once about one that is not known."""
        if self._traits is None:
            self._traits = await chat_traits(self._context, VENDOR, self.name)
        return self._traits

    async def vendor_request(self, request: CompletionRequest) -> VendorRequest:
        address = self._context.address_of(VENDOR)
        key_name, headers = await authorisation(self._context, VENDOR, address)
        return VendorRequest(
            vendor=VENDOR,
            url=f"{address}/responses",
            headers=headers,
            body=self._body(request, address),
            key_name=key_name,
            origin=f"{address} {self._model}",
        )

    def reader(self) -> _ResponsesReader:
        return _ResponsesReader()

    def _body(self, request: CompletionRequest, address: str) -> Json:
        body: Json = {
            "model": self._model,
            "input": _items(request.messages, f"{address} {self._model}"),
            "stream": True,
            "store": False,
        }
        if reasons(self._model):
            body["include"] = ["reasoning.encrypted_content"]
            if request.summaries:
                body["reasoning"] = {"summary": "auto"}
        if request.effort:
            effort = checked_effort(self.name, request.effort)
            body["reasoning"] = {**table(body.get("reasoning")), "effort": effort}
        if request.system:
            body["instructions"] = request.system
        if request.tools:
            body["tools"] = list(request.tools)
        limit = request.max_tokens or self._context.max_tokens
        if limit:
            body["max_output_tokens"] = limit
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.answer_schema is not None:
            body["text"] = {"format": {"type": "json_schema", **answer_format(request.answer_schema)}}
        return body


def reasons(model: str) -> bool:
    """Whether a model can be asked for its reasoning; chat models such as gpt-5-chat-latest cannot."""
    if known_model(f"{CHAT_VENDOR.name}:{model}").thinks:
        return True
    return model.startswith(_REASONING) and "-chat" not in model


def _items(messages: Sequence[Message], origin: str) -> list[Json]:
    items: list[Json] = []
    for message in joined(messages):
        if isinstance(message, FromUser):
            items.append({"role": "user", "content": [_part(part) for part in message.parts]})
        elif isinstance(message, FromModel):
            items += _followed(
                [item for part in message.parts if (item := _spoken(part, origin)) is not None]
            )
        elif isinstance(message, FromTools):
            items += [_result(answer) for answer in message.answers]
    return items


def _followed(items: list[Json]) -> list[Json]:
    """The items of one message; the vendor rejects reasoning that nothing follows."""
    while items and items[-1].get("type") == "reasoning":
        items.pop()
    return items


def _part(part: Text | Image) -> Json:
    if isinstance(part, Text):
        return {"type": "input_text", "text": part.text}
    return {"type": "input_image", "image_url": f"data:{part.mime};base64,{part.data}"}


def _spoken(part: Text | ToolUse | Opaque, origin: str) -> Json | None:
    if isinstance(part, Text):
        # As plain text: a list would need the vendor's original id and annotations.
        return {"role": "assistant", "content": part.text} if part.text else None
    if isinstance(part, Opaque):
        return dict(part.data) if part.vendor == VENDOR.name and part.origin == origin else None
    return {
        "type": "function_call",
        "call_id": part.id,
        "name": part.name,
        "arguments": encode(dict(part.arguments)).decode(),
    }


def _result(answer: ToolAnswer) -> Json:
    output: str | list[Json] = answer.text
    if answer.images:
        output = [_part(part) for part in answer.parts]
    return {"type": "function_call_output", "call_id": answer.id, "output": output}


class _ResponsesReader:
    """Reads the events of one answer; each item counts as it is when done."""

    def __init__(self) -> None:
        self.builder = AnswerBuilder()
        self._said = False
        self._refused = False
        self._done = 0

    def take(self, event: Json) -> list[ModelEvent]:
        if event.get("object") == "response":
            return self._end(event)
        kind = event.get("type")
        if kind in ("response.output_text.delta", "response.refusal.delta"):
            self._said = True
            self._refused = self._refused or kind == "response.refusal.delta"
            return self.builder.say(event.get("delta"))
        if kind in ("response.reasoning_summary_text.delta", "response.reasoning_text.delta"):
            return self.builder.think(event.get("delta"))
        if kind == "response.output_item.done":
            self._done += 1
            return self._item(table(event.get("item")))
        if kind in ("response.completed", "response.incomplete", "response.done"):
            return self._end(table(event.get("response")))
        if kind == "response.failed":
            raise complain(VENDOR, table(event.get("response")).get("error"))
        if kind == "error" or event.get("error"):
            raise complain(VENDOR, event.get("error") or event)
        return []

    def rest(self) -> None:
        """Calls arrive complete, or not at all."""

    def _item(self, item: Json) -> list[ModelEvent]:
        kind = item.get("type")
        if kind == "function_call":
            closed = item.get("status") in (None, "completed")
            self.builder.call(item.get("call_id"), item.get("name"), item.get("arguments"), closed=closed)
        if kind == "reasoning" and text(item.get("encrypted_content")):
            kept: Json = {
                key: item[key] for key in ("type", "id", "summary", "encrypted_content") if key in item
            }
            self.builder.keep(Opaque(vendor=VENDOR.name, data=kept))
        return self._unsaid(item) if kind == "message" else []

    def _unsaid(self, item: Json) -> list[ModelEvent]:
        """Text of a message that was not streamed."""
        said, self._said = self._said, False
        parts = tables(item.get("content"))
        self._refused = self._refused or any(part.get("type") == "refusal" for part in parts)
        if said:
            return []
        words = (text(part.get("text")) or text(part.get("refusal")) for part in parts)
        return [event for word in words for event in self.builder.say(word)]

    def _end(self, response: Json) -> list[ModelEvent]:
        if response.get("status") == "failed" or response.get("error"):
            raise complain(VENDOR, response.get("error"))
        # Some servers report the items only here; one cut by the limit is reported nowhere else.
        items = tables(response.get("output"))[self._done :]
        events = [event for item in items for event in self._item(item)]
        self.builder.end()
        why = text(table(response.get("incomplete_details")).get("reason"))
        if why or response.get("status") == "incomplete":
            self.builder.reason = _REASONS.get(why, "unknown")
            self.builder.detail = why
        elif response.get("status") not in (None, "completed"):
            self.builder.reason, self.builder.detail = "unknown", text(response.get("status"))
        elif self._refused:
            self.builder.reason = "refused"
        self._count(table(response.get("usage")))
        return events

    def _count(self, usage: Json) -> None:
        sent, details = count(usage.get("input_tokens")), table(usage.get("input_tokens_details"))
        self.builder.usage = Usage(
            input=sent,
            output=count(usage.get("output_tokens")),
            cached=min(sent, count(details.get("cached_tokens"))),
            written=min(sent, count(details.get("cache_write_tokens"))),
            requests=1,
        )
