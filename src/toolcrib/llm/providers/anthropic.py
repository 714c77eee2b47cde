"""Anthropic's messages: `anthropic:claude-…`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from toolcrib.llm.context import ModelContext, Vendor
from toolcrib.llm.history import Limits, joined, without_calls
from toolcrib.llm.http import VendorRequest
from toolcrib.llm.json_values import Json, count, identifier, table, tables, text
from toolcrib.llm.model import CompletionRequest, ModelEvent, ModelTraits
from toolcrib.llm.stream_reader import AnswerBuilder, CallDraft
from toolcrib.llm.vendor_errors import complain
from toolcrib.llm.vendor_model import VendorModel
from toolcrib.schema.messages import (
    FromModel,
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

VENDOR = Vendor(
    name="anthropic",
    title="Anthropic",
    keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    addresses=("ANTHROPIC_BASE_URL",),
    address="https://api.anthropic.com",
)
VERSION = "2023-06-01"
MAX_TOKENS = 32_000
"""The vendor requires a limit. All models since Claude 3.7 accept this one, and it leaves room for the chat.
"""
OLDER_MAX_TOKENS = {
    "claude-2": 4096,
    "claude-instant": 4096,
    "claude-3-opus": 4096,
    "claude-3-sonnet": 4096,
    "claude-3-haiku": 4096,
    "claude-3-5": 8192,
}
"""Limits of older models, by prefix of the name."""
OTHER_MAX_TOKENS = 8192
"""For models of other vendors with this protocol."""
CONTEXT = 200_000
LIMITS = Limits(call_id=re.compile(r"[A-Za-z0-9_-]{1,64}"))
_REASONS: dict[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}


def open_model(model: str, context: ModelContext) -> VendorModel:
    return VendorModel(Messages(model, context), context)


class Messages:
    form = "anthropic"
    limits = LIMITS

    def __init__(self, model: str, context: ModelContext) -> None:
        self.name = context.name_of(VENDOR, model)
        self._model = model
        self._context = context

    async def traits(self) -> ModelTraits:
        return ModelTraits(context_tokens=self._context.context_tokens or CONTEXT)

    async def vendor_request(self, request: CompletionRequest) -> VendorRequest:
        key_name, key = await self._context.need_key(VENDOR)
        sign = {"Authorization": f"Bearer {key}"} if key_name.endswith("AUTH_TOKEN") else {"x-api-key": key}
        return VendorRequest(
            vendor=VENDOR,
            url=f"{self._context.address_of(VENDOR).removesuffix('/v1')}/v1/messages",
            headers={**sign, "anthropic-version": VERSION},
            body=self._body(request),
            key_name=key_name,
        )

    def reader(self) -> _MessagesReader:
        return _MessagesReader()

    def _body(self, request: CompletionRequest) -> Json:
        # Calls in the history are rejected if no tools are offered.
        messages = request.messages if request.tools else without_calls(request.messages)
        body: Json = {
            "model": self._model,
            "max_tokens": request.max_tokens or self._context.max_tokens or max_tokens(self._model),
            "messages": _messages(messages),
            "stream": True,
        }
        if request.system:
            # Makes the vendor cache tools and instructions, which are the same in every round.
            body["system"] = [
                {"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}
            ]
        if request.tools:
            body["tools"] = list(request.tools)
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.stop:
            body["stop_sequences"] = list(request.stop)
        return body


def max_tokens(model: str) -> int:
    """The default limit for an answer of this model."""
    older = next((most for name, most in OLDER_MAX_TOKENS.items() if model.startswith(name)), None)
    return older or (MAX_TOKENS if model.startswith("claude") else OTHER_MAX_TOKENS)


def _messages(messages: Sequence[Message]) -> list[Json]:
    written: list[Json] = []
    for message in joined(messages):
        role = "assistant" if isinstance(message, FromModel) else "user"
        content = _content(message)
        if not content:
            continue
        if written and written[-1]["role"] == role:
            written[-1]["content"] += content
        else:
            written.append({"role": role, "content": content})
    if written and isinstance(written[-1]["content"], list):
        last = written[-1]["content"][-1]
        if last["type"] in ("text", "tool_result"):
            last["cache_control"] = {"type": "ephemeral"}
    return written


def _content(message: Message) -> list[Json]:
    if isinstance(message, FromUser):
        return [_block(part) for part in message.parts if not _is_empty(part)]
    if isinstance(message, FromModel):
        blocks = [block for part in message.parts if (block := _spoken(part)) is not None]
        while blocks and _is_thinking(blocks[-1]):  # No message may end with them.
            blocks.pop()
        return blocks
    return [_result(answer) for answer in message.answers]


def _is_empty(part: object) -> bool:
    return isinstance(part, Text) and not part.text.strip()


def _block(part: Text | Image) -> Json:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    return {"type": "image", "source": {"type": "base64", "media_type": part.mime, "data": part.data}}


def _spoken(part: Text | ToolUse | Opaque) -> Json | None:
    if isinstance(part, ToolUse):
        return {"type": "tool_use", "id": part.id, "name": part.name, "input": dict(part.arguments)}
    if isinstance(part, Opaque):
        return dict(part.data) if part.vendor == VENDOR.name and _is_thinking(part.data) else None
    return None if _is_empty(part) else {"type": "text", "text": part.text}


def _is_thinking(block: Mapping[str, object]) -> bool:
    """Whether the vendor accepts this reasoning back: if cut, it has no signature."""
    if block.get("type") == "thinking":
        return isinstance(block.get("thinking"), str) and bool(text(block.get("signature")))
    return block.get("type") == "redacted_thinking" and bool(text(block.get("data")))


def _result(answer: ToolAnswer) -> Json:
    content = [_block(part) for part in answer.parts if not _is_empty(part)]
    block: Json = {"type": "tool_result", "tool_use_id": answer.id, "content": content}
    return {**block, "is_error": True} if answer.failed else block


class _MessagesReader:
    def __init__(self) -> None:
        self.builder = AnswerBuilder()
        self._draft = CallDraft()
        self._block: Json = {}
        self._counted: dict[str, int] = {}

    def take(self, event: Json) -> list[ModelEvent]:
        kind = event.get("type")
        if kind == "message_start":
            self._count(table(event.get("message")).get("usage"))
        elif kind == "content_block_start":
            return self._begin(table(event.get("content_block")))
        elif kind == "content_block_delta":
            return self._more(table(event.get("delta")))
        elif kind == "content_block_stop":
            self._end_block(closed=True)
        elif kind == "message_delta":
            self._stop(table(event.get("delta")))
            self._count(event.get("usage"))
        elif kind == "message_stop":
            self.builder.end()
        elif kind == "message":
            return self._whole(event)
        elif kind == "error" or event.get("error"):
            raise complain(VENDOR, event.get("error"))
        return []

    def rest(self) -> None:
        self._end_block(closed=False)

    def _begin(self, block: Json) -> list[ModelEvent]:
        self._end_block(closed=False)
        self._block = dict(block)
        self._draft = CallDraft(identifier(block.get("id")), text(block.get("name")))
        return self.builder.say(block.get("text")) if block.get("type") == "text" else []

    def _more(self, delta: Json) -> list[ModelEvent]:
        kind = delta.get("type")
        if kind == "text_delta":
            return self.builder.say(delta.get("text"))
        if kind == "input_json_delta":
            self._draft.arguments += text(delta.get("partial_json"))
        elif kind == "thinking_delta":
            self._block["thinking"] = text(self._block.get("thinking")) + text(delta.get("thinking"))
            return self.builder.think(delta.get("thinking"))
        elif kind == "signature_delta":
            self._block["signature"] = text(delta.get("signature"))
        return []

    def _end_block(self, *, closed: bool) -> None:
        block, self._block = self._block, {}
        if _is_thinking(block):
            self.builder.keep(Opaque(vendor=VENDOR.name, data=block))
        elif block.get("type") == "tool_use":
            draft = self._draft
            self.builder.call(draft.id, draft.name, draft.arguments or block.get("input"), closed=closed)

    def _stop(self, told: Json) -> None:
        reason = text(told.get("stop_reason"))
        if reason:
            self.builder.reason = _REASONS.get(reason, "end")
        details = table(told.get("stop_details"))
        self.builder.detail = text(details.get("explanation")) or text(details.get("category"))

    def _whole(self, message: Json) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        for block in tables(message.get("content")):
            if block.get("type") == "text":
                events += self.builder.say(block.get("text"))
            elif block.get("type") == "tool_use":
                self.builder.call(block.get("id"), block.get("name"), block.get("input"))
        self._stop(message)
        self._count(message.get("usage"))
        self.builder.end()
        return events

    def _count(self, usage: object) -> None:
        # Counts are totals of the whole answer, and events may repeat them: the largest is right.
        for name, value in table(usage).items():
            self._counted[name] = max(self._counted.get(name, 0), count(value))
        if not self._counted:
            return
        cached = self._counted.get("cache_read_input_tokens", 0)
        written = self._counted.get("cache_creation_input_tokens", 0)
        self.builder.usage = Usage(
            input=self._counted.get("input_tokens", 0) + cached + written,
            output=self._counted.get("output_tokens", 0),
            cached=cached,
            written=written,
            requests=1,
        )
