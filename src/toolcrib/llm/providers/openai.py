"""OpenAI's chat completions and compatible APIs: `openai:gpt-…`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolcrib.errors import AnswerCut
from toolcrib.llm.context import ModelContext, Vendor
from toolcrib.llm.history import NINE_CHARACTERS, Limits, joined
from toolcrib.llm.http import VendorRequest
from toolcrib.llm.json_values import Json, count, encode, identifier, is_valid, table, tables, text
from toolcrib.llm.model import CompletionRequest, ModelEvent, ModelTraits
from toolcrib.llm.stream_reader import AnswerBuilder, CallDraft
from toolcrib.llm.vendor_errors import complain
from toolcrib.llm.vendor_model import VendorModel
from toolcrib.schema.messages import (
    FromModel,
    FromTools,
    FromUser,
    Image,
    Message,
    StopReason,
    Text,
    ToolUse,
    Usage,
)

VENDOR = Vendor(
    name="openai",
    title="OpenAI",
    keys=("OPENAI_API_KEY",),
    addresses=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    address="https://api.openai.com/v1",
)
CONTEXT = 128_000
_REASONS: dict[str, StopReason] = {
    "stop": "end",
    "tool_calls": "calls",
    "function_call": "calls",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "content_filter": "filtered",
    "sensitive": "filtered",
    "safety": "filtered",
    "refusal": "refused",
}
_BROKEN = ("error", "abort", "aborted", "cancelled", "network_error", "insufficient_system_resource")
"""Reasons with which servers report a failure."""
_MISTRAL = ("mistral", "mixtral", "ministral", "codestral", "magistral", "devstral", "pixtral")
"""Parts of the names of models whose templates reject other ids."""


def open_model(model: str, context: ModelContext, vendor: Vendor = VENDOR) -> VendorModel:
    return VendorModel(Completions(model, context, vendor), context)


class Completions:
    form = "openai"

    def __init__(self, model: str, context: ModelContext, vendor: Vendor) -> None:
        self.name = context.name_of(vendor, model)
        self._model = model
        self._vendor = vendor
        self._context = context
        self.limits = NINE_CHARACTERS if any(name in model.lower() for name in _MISTRAL) else Limits()

    async def traits(self) -> ModelTraits:
        """The protocol does not report capabilities; the context comes from the settings."""
        return ModelTraits(context_tokens=self._context.context_tokens or CONTEXT, structured=True)

    async def vendor_request(self, request: CompletionRequest) -> VendorRequest:
        address = self._context.address_of(self._vendor)
        key_name, headers = await authorisation(self._context, self._vendor, address)
        return VendorRequest(
            vendor=self._vendor,
            url=f"{address}/chat/completions",
            headers=headers,
            body=self._body(request, address),
            key_name=key_name,
        )

    def reader(self) -> _CompletionsReader:
        return _CompletionsReader(self._vendor)

    def _body(self, request: CompletionRequest, address: str) -> Json:
        body: Json = {
            "model": self._model,
            "messages": write_messages(request.system, request.messages),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.tools:
            body["tools"] = list(request.tools)
        limit = request.max_tokens or self._context.max_tokens
        if limit:
            # OpenAI's newer models reject the old name, other servers do not know the new one.
            body["max_completion_tokens" if address == VENDOR.address else "max_tokens"] = limit
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.stop:
            body["stop"] = list(request.stop)
        if request.answer_schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": answer_format(request.answer_schema),
            }
        return body


def answer_format(schema: Mapping[str, Any]) -> Json:
    """The format of a structured answer; `strict` would forbid objects with free keys."""
    return {"name": "answer", "schema": dict(schema), "strict": False}


async def authorisation(context: ModelContext, vendor: Vendor, address: str) -> tuple[str, dict[str, str]]:
    """The key's name and the headers; an address other than the vendor's own may need no key."""
    if address == vendor.address and vendor.keys:
        name, key = await context.need_key(vendor)
        return name, {"Authorization": f"Bearer {key}"}
    found = await context.key_of(vendor)
    return ("", {}) if found is None else (found[0], {"Authorization": f"Bearer {found[1]}"})


def write_messages(system: str, messages: Sequence[Message]) -> list[Json]:
    """The messages; tools' pictures follow their answers in a user message."""
    written: list[Json] = [{"role": "system", "content": system}] if system else []
    for message in joined(messages):
        if isinstance(message, FromUser):
            written.append({"role": "user", "content": _content(message.parts)})
        elif isinstance(message, FromModel):
            written.append(_spoken(message))
        else:
            written += _results(message)
    return written


def _content(parts: Sequence[Text | Image]) -> str | list[Json]:
    if all(isinstance(part, Text) for part in parts):
        return "\n".join(part.text for part in parts if isinstance(part, Text))
    return [_part(part) for part in parts]


def _part(part: Text | Image) -> Json:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    return {"type": "image_url", "image_url": {"url": f"data:{part.mime};base64,{part.data}"}}


def _spoken(message: FromModel) -> Json:
    written: Json = {"role": "assistant", "content": message.text or None}
    if message.calls:
        written["tool_calls"] = [_call(call) for call in message.calls]
    elif not message.text:
        written["content"] = ""
    return written


def _call(call: ToolUse) -> Json:
    # The vendor parses this again: broken arguments are sent as an empty object.
    arguments = encode(dict(call.arguments)).decode()
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _results(message: FromTools) -> list[Json]:
    written: list[Json] = []
    seen: list[Json] = []
    for answer in message.answers:
        text = answer.text
        if answer.images:
            text = f"{text}\n(See the pictures in the next message.)".lstrip()
            seen.append({"type": "text", "text": f"Pictures from {answer.name} ({answer.id}):"})
            seen += [_part(image) for image in answer.images]
        written.append({"role": "tool", "tool_call_id": answer.id, "content": text})
    return [*written, {"role": "user", "content": seen}] if seen else written


class _CompletionsReader:
    """Reads the chunks of one answer; fills in what some servers leave out."""

    def __init__(self, vendor: Vendor) -> None:
        self.builder = AnswerBuilder()
        self._vendor = vendor
        self._drafts: dict[object, CallDraft] = {}
        self._last: object = None
        self._refused = False

    def take(self, chunk: Json) -> list[ModelEvent]:
        """One chunk; an empty one is the last."""
        if not chunk:
            self.builder.end()
        if chunk.get("error"):
            raise complain(self._vendor, chunk["error"])
        self._count(table(chunk.get("usage")))
        # Only one answer was requested; a second one would be mixed with it.
        return [event for choice in tables(chunk.get("choices"))[:1] for event in self._choice(choice)]

    def rest(self) -> None:
        """The calls: the protocol does not mark their last chunk."""
        builder = self.builder
        for draft in self._drafts.values():
            builder.call(draft.id, draft.name, draft.arguments, closed=builder.reason is not None)
        if self._refused and builder.reason in (None, "end", "calls"):
            builder.reason = "refused"

    def _choice(self, choice: Json) -> list[ModelEvent]:
        delta = table(choice.get("delta")) or table(choice.get("message"))
        thought = text(delta.get("reasoning_content")) or text(delta.get("reasoning"))
        events = [*self.builder.think(thought), *self.builder.say(_words(delta.get("content")))]
        refusal = text(delta.get("refusal"))
        if refusal:
            self._refused = True
            events += self.builder.say(refusal)
        for position, call in enumerate(tables(delta.get("tool_calls"))):
            self._draft(call, position)
        self._finish(text(choice.get("finish_reason")))
        return events

    def _finish(self, reason: str) -> None:
        if not reason:
            return
        if reason.lower() in _BROKEN:
            raise AnswerCut(f"{self._vendor.title}'s answer was cut off: {reason}.", hint="Ask again.")
        self.builder.reason = _REASONS.get(reason.lower(), "end")
        if self.builder.reason == "filtered":
            self.builder.detail = reason
        self.builder.ended = True  # The usage follows.

    def _draft(self, call: Json, position: int) -> None:
        function = table(call.get("function"))
        draft = self._drafts.setdefault(self._slot(call, position), CallDraft())
        draft.id = draft.id or identifier(call.get("id"))
        draft.name = draft.name or text(function.get("name"))
        arguments = function.get("arguments")
        draft.arguments += _as_text(arguments)

    def _slot(self, call: Json, position: int) -> object:
        """Which call a chunk belongs to: by its index, else a chunk with a name begins the next one."""
        index = call.get("index")
        if isinstance(index, int):
            return index
        if text(table(call.get("function")).get("name")) or self._last is None:
            self._last = ("unnumbered", len(self._drafts), position)
        return self._last

    def _count(self, usage: Json) -> None:
        if not usage:
            return
        sent = count(usage.get("prompt_tokens"))
        self.builder.usage = Usage(
            input=sent,
            output=count(usage.get("completion_tokens")),
            cached=min(sent, count(table(usage.get("prompt_tokens_details")).get("cached_tokens"))),
            requests=1,
        )


def _as_text(arguments: object) -> str:
    """Arguments as text; invalid values stay invalid."""
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    written = encode(arguments).decode()
    return written if is_valid(arguments) else f"(invalid) {written}"


def _words(content: object) -> str:
    """A message's text; a few servers send it in parts."""
    if isinstance(content, list):
        return "".join(text(part.get("text")) for part in tables(content))
    return text(content)
