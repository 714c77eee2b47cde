"""Anthropic's messages API: `anthropic:claude-…`. Has its key and address, default length of an answer,
prompt cache, thinking, and stop reasons.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence

from toolcrib.llm.context import ModelContext, ModelVendor
from toolcrib.llm.history import Limits, joined, without_calls
from toolcrib.llm.http import VendorRequest
from toolcrib.llm.json_values import Json, count, encode, identifier, table, tables, text
from toolcrib.llm.known_models import known_model
from toolcrib.llm.model import CompletionRequest, ModelEvent, ModelTraits
from toolcrib.llm.model_limits import ListedLimits, checked_effort, fetch_json, find_traits
from toolcrib.llm.model_lists import ListedModel, fetch_list
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

VENDOR = ModelVendor(
    name="anthropic",
    title="Anthropic",
    keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    addresses=("ANTHROPIC_BASE_URL",),
    address="https://api.anthropic.com",
    usual="claude-sonnet-5-5",
)
VERSION = "2023-06-01"
SMALL_CONTEXT = 200_000
SMALL_MAX_TOKENS = 32_000
"""The longest answer of models with this context: more would leave too little room for the chat."""
UNKNOWN_MAX_TOKENS = 8192
"""The vendor requires a limit; models that are not known accept this one."""
_BREAKPOINTS = 3
"""Cache breakpoints in the messages; the vendor allows four, and the system prompt has one."""
LIMITS = Limits(call_id=re.compile(r"[A-Za-z0-9_-]{1,64}"))
_REASONS: dict[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
    "pause_turn": "paused",
}


def open_model(model: str, context: ModelContext) -> VendorModel:
    return VendorModel(Messages(model, context), context)


async def list_models(context: ModelContext) -> list[ListedModel]:
    """The vendor's own list."""
    key_name, headers = await _headers(context)
    url = f"{_address(context)}/models?limit=1000"
    rows = await fetch_list(context.titled(VENDOR), url, headers, "data", key_name=key_name)
    return [
        ListedModel(
            name=text(row.get("id")),
            context=count(row.get("max_input_tokens")) or None,
            created=text(row.get("created_at"))[:10],
        )
        for row in rows
    ]


def _address(context: ModelContext) -> str:
    return f"{context.address_of(VENDOR).removesuffix('/v1')}/v1"


async def _headers(context: ModelContext) -> tuple[str, dict[str, str]]:
    key_name, key = await context.need_key(VENDOR)
    sign = {"Authorization": f"Bearer {key}"} if key_name.endswith("AUTH_TOKEN") else {"x-api-key": key}
    return key_name, {**(sign if key else {}), "anthropic-version": VERSION}


class Messages:
    form = "anthropic"
    limits = LIMITS

    def __init__(self, model: str, context: ModelContext) -> None:
        self.name = context.name_of(VENDOR, model)
        self._model = model
        self._known = f"{VENDOR.name}:{model}"
        self._context = context
        self._address = _address(context)
        self._traits: ModelTraits | None = None

    async def traits(self) -> ModelTraits:
        """The limits of the model; the vendor is asked once about one that is not known."""
        if self._traits is None:
            self._traits = await find_traits(self._context, VENDOR, self._known, self._ask, SMALL_CONTEXT)
        return self._traits

    async def _ask(self) -> ListedLimits:
        _, headers = await _headers(self._context)
        found = await fetch_json(VENDOR, f"{self._address}/models/{self._model}", headers)
        return ListedLimits(count(found.get("max_input_tokens")), count(found.get("max_tokens")))

    async def vendor_request(self, request: CompletionRequest) -> VendorRequest:
        key_name, headers = await _headers(self._context)
        traits = await self.traits()
        # Calls in the history are rejected if no tools are offered.
        said = request.messages if request.tools else without_calls(request.messages)
        before = [request.conversation, request.system, list(request.tools)]
        messages, origin = _messages(said, f"{self._address} {self._model}", before)
        return VendorRequest(
            vendor=VENDOR,
            url=f"{self._address}/messages",
            headers=headers,
            body={**self._body(request, traits), "messages": messages},
            key_name=key_name,
            origin=origin,
        )

    def reader(self) -> _MessagesReader:
        return _MessagesReader()

    def _body(self, request: CompletionRequest, traits: ModelTraits) -> Json:
        body: Json = {
            "model": self._model,
            "max_tokens": request.max_tokens or self._context.max_tokens or max_tokens(traits),
            "stream": True,
        }
        thinks = known_model(self._known).thinks
        if thinks:
            # Without `display`, what it says between calls would not be shown.
            body["thinking"] = {"type": "adaptive", "display": "summarized"}
        if request.effort:
            body["output_config"] = {"effort": checked_effort(self._known, request.effort)}
        if request.system:
            # Makes the vendor cache tools and instructions, which are the same in every round.
            body["system"] = [
                {"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}
            ]
        if request.tools:
            body["tools"] = list(request.tools)
        if request.temperature is not None and not thinks:  # Rejected while it thinks.
            body["temperature"] = request.temperature
        if request.stop:
            body["stop_sequences"] = list(request.stop)
        return body


def max_tokens(traits: ModelTraits) -> int:
    """The default limit for an answer."""
    most = traits.max_output or UNKNOWN_MAX_TOKENS
    return most if traits.context_tokens > SMALL_CONTEXT else min(most, SMALL_MAX_TOKENS)


def _messages(messages: Sequence[Message], model: str, before: object) -> tuple[list[Json], str]:
    """The messages, and the origin of the answer to them.

    The vendor binds reasoning to its model and to everything before it (tools, system prompt, messages), and
    rejects it elsewhere: after a change of model, in a fork, after compaction. So the origin has a hash of
    what was sent, and reasoning goes back only after exactly that.
    """
    written: list[Json] = []
    sent = hashlib.sha256(encode(before))
    for message in joined(messages):
        role = "assistant" if isinstance(message, FromModel) else "user"
        content = _content(message, f"{model} {sent.hexdigest()}")
        if not content:
            continue
        sent.update(encode([role, content]))
        if written and written[-1]["role"] == role:
            written[-1]["content"] += content
        else:
            written.append({"role": role, "content": content})
    if written and written[-1]["role"] == "assistant":
        _strip_end(written)
    _set_breakpoints(written)
    return written, f"{model} {sent.hexdigest()}"


def _strip_end(written: list[Json]) -> None:
    """Remove white space at the end of a message to be continued, which the vendor rejects."""
    last = written[-1]["content"][-1]
    if last["type"] == "text":
        last["text"] = last["text"].rstrip()


def _set_breakpoints(written: list[Json]) -> None:
    """Mark the ends of the latest requests: the vendor looks back only 20 blocks for what it has cached."""
    for message in [message for message in written if message["role"] == "user"][-_BREAKPOINTS:]:
        message["content"][-1]["cache_control"] = {"type": "ephemeral"}


def _content(message: Message, origin: str) -> list[Json]:
    if isinstance(message, FromUser):
        return [_block(part) for part in message.parts if not _is_empty(part)]
    if isinstance(message, FromModel):
        blocks = [block for part in message.parts if (block := _spoken(part, origin)) is not None]
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


def _spoken(part: Text | ToolUse | Opaque, origin: str) -> Json | None:
    if isinstance(part, ToolUse):
        return {"type": "tool_use", "id": part.id, "name": part.name, "input": dict(part.arguments)}
    if isinstance(part, Opaque):
        return dict(part.data) if part.vendor == VENDOR.name and part.origin == origin else None
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
            self.builder.reason = _REASONS.get(reason, "unknown")
        details = table(told.get("stop_details"))
        told_why = text(details.get("explanation")) or text(details.get("category"))
        self.builder.detail = told_why or (reason if self.builder.reason == "unknown" else "")

    def _whole(self, message: Json) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        for block in tables(message.get("content")):
            if block.get("type") == "text":
                events += self.builder.say(block.get("text"))
            elif block.get("type") == "tool_use":
                self.builder.call(block.get("id"), block.get("name"), block.get("input"))
            elif _is_thinking(block):
                events += self.builder.think(block.get("thinking"))
                self.builder.keep(Opaque(vendor=VENDOR.name, data=block))
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
