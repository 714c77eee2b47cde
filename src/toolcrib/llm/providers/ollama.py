"""Ollama, on this machine or another, in its own protocol: `ollama:qwen3`. Has the default context length and
the handling of thinking.

Its OpenAI-compatible API cannot set the context length, and the default is small enough to lose the tools
silently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolcrib.errors import ModelUnreachable
from toolcrib.llm.context import ModelContext, ModelVendor
from toolcrib.llm.history import Limits, in_turns_with_calls, joined, without_calls
from toolcrib.llm.http import VendorRequest
from toolcrib.llm.json_values import Json, count, table, tables, text
from toolcrib.llm.model import CompletionRequest, Model, ModelEvent, ModelTraits
from toolcrib.llm.model_lists import ListedModel
from toolcrib.llm.ollama_host import address_of, describe, find_models
from toolcrib.llm.providers import openai
from toolcrib.llm.stream_reader import AnswerBuilder, TaggedReasoning
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
    Usage,
)

VENDOR = ModelVendor(
    name="ollama",
    title="Ollama",
    keys=("OLLAMA_API_KEY",),
    addresses=("OLLAMA_HOST", "OLLAMA_BASE_URL"),
    address="http://127.0.0.1:11434",
)
CONTEXT = 16_384
"""Context in tokens, unless set in the settings or smaller in the model; more costs memory."""
_REASONS: dict[str, StopReason] = {"": "end", "stop": "end", "length": "length"}
_THINKING = "thinking"


def open_model(model: str, context: ModelContext) -> Model:
    """One model; an address that ends in /v1 uses the OpenAI-compatible API."""
    address = context.address_of(VENDOR)
    if address.endswith("/v1"):
        return openai.open_model(model, replace(context, address=address), VENDOR)
    return VendorModel(OllamaChat(model, context), context)


async def list_models(context: ModelContext) -> list[ListedModel]:
    """The installed models."""
    address = context.address_of(VENDOR)
    if address.endswith("/v1"):
        return await openai.list_models(context, VENDOR)
    found = await find_models(address_of(address))
    if found is None:
        raise ModelUnreachable(
            f"{VENDOR.title} does not answer at {address}.", hint="Start it with: ollama serve"
        )
    return [ListedModel(name=model.name) for model in found]


class OllamaChat:
    form = "openai"
    limits = Limits()

    def __init__(self, model: str, context: ModelContext) -> None:
        self.name = context.name_of(VENDOR, model)
        self._model = model
        self._context = context
        self._address = address_of(context.address_of(VENDOR))
        self._origin = f"{self._address} {model}"
        self._traits: ModelTraits | None = None

    async def traits(self) -> ModelTraits:
        """The capabilities that Ollama reports; asked once."""
        if self._traits is None:
            self._traits = await describe(self._address, self._model, self._context.context_tokens or CONTEXT)
        return self._traits

    async def vendor_request(self, request: CompletionRequest) -> VendorRequest:
        traits = await self.traits()
        found = await self._context.key_of(VENDOR)
        return VendorRequest(
            vendor=VENDOR,
            url=f"{self._address}/api/chat",
            headers={} if found is None else {"Authorization": f"Bearer {found[1]}"},
            body=self._body(request, traits),
            key_name="" if found is None else found[0],
            origin=self._origin,
            in_lines=True,
        )

    def reader(self) -> _ChatReader:
        return _ChatReader()

    def _body(self, request: CompletionRequest, traits: ModelTraits) -> Json:
        tools = list(request.tools) if traits.tools else []
        messages = request.messages if traits.tools else without_calls(request.messages)
        limits: Json = {
            "num_ctx": traits.context_tokens,
            "num_predict": request.max_tokens or self._context.max_tokens,
            "temperature": request.temperature,
            "stop": list(request.stop) or None,
        }
        body: Json = {
            "model": self._model,
            "messages": _messages(request.system, messages, self._origin),
            "stream": True,
            "options": {key: value for key, value in limits.items() if value is not None},
        }
        if request.answer_schema is not None:
            body["format"] = dict(request.answer_schema)
        if request.effort:
            body["think"] = False if request.effort == "none" else request.effort
        return {**body, "tools": tools} if tools else body


def _messages(system: str, messages: Sequence[Message], origin: str) -> list[Json]:
    written: list[Json] = [{"role": "system", "content": system}] if system else []
    said = joined(messages)
    for message, calling in zip(said, in_turns_with_calls(said), strict=True):
        if isinstance(message, FromUser):
            written.append(_said("user", message.parts))
        elif isinstance(message, FromModel):
            written.append({**_spoken(message), **(_thinking(message, origin) if calling else {})})
        else:
            written += _results(message)
    return written


def _thinking(message: FromModel, origin: str) -> Json:
    """The reasoning of a turn with calls, which goes on."""
    kept = (part for part in message.parts if isinstance(part, Opaque) and part.origin == origin)
    thought = "".join(text(part.data.get(_THINKING)) for part in kept if part.vendor == VENDOR.name)
    return {_THINKING: thought} if thought else {}


def _said(role: str, parts: Sequence[Text | Image]) -> Json:
    words = "\n".join(part.text for part in parts if isinstance(part, Text))
    images = [part.data for part in parts if isinstance(part, Image)]
    return {"role": role, "content": words, **({"images": images} if images else {})}


def _spoken(message: FromModel) -> Json:
    calls = [
        {"function": {"name": call.name, "arguments": dict(call.arguments)}, "id": call.id}
        for call in message.calls
    ]
    return {"role": "assistant", "content": message.text, **({"tool_calls": calls} if calls else {})}


def _results(message: FromTools) -> list[Json]:
    written: list[Json] = [
        {
            "role": "tool",
            "tool_name": answer.name,
            "tool_call_id": answer.id,
            "content": f"Error: {answer.text}" if answer.failed else answer.text,
        }
        for answer in message.answers
    ]
    for answer in message.answers:
        if answer.images:
            # Model templates only show pictures in user messages.
            shown: list[Text | Image] = [Text(f"Pictures from {answer.name}:"), *answer.images]
            written.append(_said("user", shown))
    return written


class _ChatReader:
    def __init__(self) -> None:
        self.builder = AnswerBuilder(tagged=TaggedReasoning())
        self._thought = ""

    def take(self, line: Json) -> list[ModelEvent]:
        if line.get("error"):
            raise complain(VENDOR, line["error"])
        message = table(line.get("message"))
        self._thought += text(message.get(_THINKING))
        events = [*self.builder.think(message.get(_THINKING)), *self.builder.say(message.get("content"))]
        for call in tables(message.get("tool_calls")):
            function = table(call.get("function"))
            self.builder.call(call.get("id"), function.get("name"), function.get("arguments"))
        if line.get("done"):
            self._end(line)
        return events

    def rest(self) -> None:
        """Calls arrive complete; the reasoning is kept."""
        if self._thought:
            self.builder.keep(Opaque(vendor=VENDOR.name, data={_THINKING: self._thought}), first=True)

    def _end(self, line: Json) -> None:
        self.builder.end()
        reason = text(line.get("done_reason"))
        self.builder.reason = _REASONS.get(reason, "unknown")
        self.builder.detail = reason if self.builder.reason == "unknown" else ""
        self.builder.usage = Usage(
            input=count(line.get("prompt_eval_count")), output=count(line.get("eval_count")), requests=1
        )
