"""Anthropic's messages: `anthropic:claude-…`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolcrib.llm.context import ModelContext, Vendor
from toolcrib.llm.gathering import Draft, Gathering
from toolcrib.llm.history import joined, without_calls
from toolcrib.llm.model import ModelEvent, Request, TextDelta, ThinkingDelta, Traits
from toolcrib.llm.refusals import complain
from toolcrib.llm.sending import Outgoing
from toolcrib.llm.vendor_model import VendorModel
from toolcrib.schema.messages import (
    FromModel,
    FromPerson,
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
MAX_TOKENS = 8192
"""The vendor wants a limit; this is one that all current models take."""
CONTEXT = 200_000
_REASONS: dict[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}
_THINKING = ("thinking", "redacted_thinking")
Json = dict[str, Any]


def open_model(model: str, context: ModelContext) -> VendorModel:
    """One model."""
    return VendorModel(Messages(model, context), context)


class Messages:
    """A model of Anthropic."""

    form = "anthropic"

    def __init__(self, model: str, context: ModelContext) -> None:
        self.name = context.name_of(VENDOR, model)
        self._model = model
        self._context = context

    async def traits(self) -> Traits:
        """All of them see pictures and take tools."""
        return Traits(context_tokens=self._context.context_tokens or CONTEXT)

    async def outgoing(self, request: Request) -> Outgoing:
        """The request as the vendor wants it."""
        key_name, key = await self._context.need_key(VENDOR)
        sign = {"Authorization": f"Bearer {key}"} if key_name.endswith("AUTH_TOKEN") else {"x-api-key": key}
        return Outgoing(
            vendor=VENDOR,
            url=f"{self._context.address_of(VENDOR).removesuffix('/v1')}/v1/messages",
            headers={**sign, "anthropic-version": VERSION},
            body=self._body(request),
            key_name=key_name,
        )

    def reading(self) -> _Reading:
        """For one answer."""
        return _Reading()

    def _body(self, request: Request) -> Json:
        # Calls in the talk are refused when no tools are offered with it.
        messages = request.messages if request.tools else without_calls(request.messages)
        body: Json = {
            "model": self._model,
            "max_tokens": request.max_tokens or self._context.max_tokens or MAX_TOKENS,
            "messages": _messages(messages),
            "stream": True,
        }
        if request.system:
            # The mark makes the vendor keep tools and instructions, which are the same in every round.
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
    if isinstance(message, FromPerson):
        return [_block(part) for part in message.parts if not _is_empty(part)]
    if isinstance(message, FromModel):
        return [block for part in message.parts if (block := _spoken(part)) is not None]
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
        return dict(part.data) if part.vendor == VENDOR.name else None
    return None if _is_empty(part) else {"type": "text", "text": part.text}


def _result(answer: ToolAnswer) -> Json:
    content = [_block(part) for part in answer.parts if not _is_empty(part)]
    block: Json = {"type": "tool_result", "tool_use_id": answer.id, "content": content}
    return {**block, "is_error": True} if answer.failed else block


class _Reading:
    """Reads the events of one answer."""

    def __init__(self) -> None:
        self.gathering = Gathering()
        self._draft = Draft()
        self._block: Json = {}

    def take(self, event: Json) -> list[ModelEvent]:
        """One event."""
        kind = event.get("type")
        if kind == "message_start":
            self._count(event.get("message", {}).get("usage"))
        elif kind == "content_block_start":
            self._begin(event.get("content_block") or {})
        elif kind == "content_block_delta":
            return self._more(event.get("delta") or {})
        elif kind == "content_block_stop":
            return self._end_block()
        elif kind == "message_delta":
            self.gathering.reason = _REASONS.get(str((event.get("delta") or {}).get("stop_reason")), "end")
            self._count(event.get("usage"))
        elif kind == "message_stop":
            self.gathering.end()
        elif kind == "message":
            self._whole(event)
        elif kind == "error":
            raise complain(VENDOR, event.get("error"))
        return []

    def rest(self) -> list[ModelEvent]:
        """Nothing: every call is complete when its block is."""
        return []

    def _begin(self, block: Json) -> None:
        self._block = dict(block)
        if block.get("type") == "tool_use":
            self._draft = Draft(str(block.get("id") or ""), str(block.get("name") or ""))

    def _more(self, delta: Json) -> list[ModelEvent]:
        kind = delta.get("type")
        if kind == "text_delta":
            self.gathering.say(delta["text"])
            return [TextDelta(delta["text"])]
        if kind == "input_json_delta":
            self._draft.arguments += delta.get("partial_json") or ""
        elif kind == "thinking_delta":
            self._block["thinking"] = self._block.get("thinking", "") + delta["thinking"]
            return [ThinkingDelta(delta["thinking"])]
        elif kind == "signature_delta":
            self._block["signature"] = delta["signature"]
        return []

    def _end_block(self) -> list[ModelEvent]:
        block, self._block = self._block, {}
        if block.get("type") in _THINKING:
            self.gathering.keep(Opaque(vendor=VENDOR.name, data=block))
        if block.get("type") != "tool_use":
            return []
        given: object = self._draft.arguments or block.get("input")
        return [self.gathering.call(self._draft.id, self._draft.name, given)]

    def _whole(self, message: Json) -> None:
        self.gathering.end()
        for block in message.get("content") or ():
            if block.get("type") == "text":
                self.gathering.say(block["text"])
            elif block.get("type") == "tool_use":
                self.gathering.call(block.get("id", ""), block.get("name", ""), block.get("input"))
        self.gathering.reason = _REASONS.get(str(message.get("stop_reason")), "end")
        self._count(message.get("usage"))

    def _count(self, usage: Mapping[str, Any] | None) -> None:
        if not usage:
            return
        before = self.gathering.usage
        cached = usage.get("cache_read_input_tokens") or 0
        fresh = (usage.get("input_tokens") or 0) + (usage.get("cache_creation_input_tokens") or 0)
        self.gathering.usage = Usage(
            # The last count holds; those that an event leaves out stay.
            input=fresh + cached or before.input,
            output=usage.get("output_tokens") or before.output,
            cached=cached or before.cached,
            requests=1,
        )
