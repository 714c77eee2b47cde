"""OpenAI's chat completions, and everybody's who copies them: `openai:gpt-…`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from toolcrib.llm.context import ModelContext, Vendor
from toolcrib.llm.gathering import Draft, Gathering
from toolcrib.llm.history import joined
from toolcrib.llm.model import ModelEvent, Request, TextDelta, ThinkingDelta, Traits
from toolcrib.llm.refusals import complain
from toolcrib.llm.sending import Outgoing
from toolcrib.llm.vendor_model import VendorModel
from toolcrib.schema.messages import (
    FromModel,
    FromPerson,
    FromTools,
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
    "content_filter": "refused",
}
Json = dict[str, Any]


def open_model(model: str, context: ModelContext, vendor: Vendor = VENDOR) -> VendorModel:
    """One model, of whoever speaks like this."""
    return VendorModel(Completions(model, context, vendor), context)


class Completions:
    """A model behind chat completions."""

    form = "openai"

    def __init__(self, model: str, context: ModelContext, vendor: Vendor) -> None:
        self.name = context.name_of(vendor, model)
        self._model = model
        self._vendor = vendor
        self._context = context

    async def traits(self) -> Traits:
        """What it holds is as the settings say; the protocol does not tell."""
        return Traits(context_tokens=self._context.context_tokens or CONTEXT)

    async def outgoing(self, request: Request) -> Outgoing:
        """The request as the vendor wants it."""
        address = self._context.address_of(self._vendor)
        key_name, headers = await authorisation(self._context, self._vendor, address)
        return Outgoing(
            vendor=self._vendor,
            url=f"{address}/chat/completions",
            headers=headers,
            body=self._body(request, address),
            key_name=key_name,
        )

    def reading(self) -> _Reading:
        """For one answer."""
        return _Reading(self._vendor)

    def _body(self, request: Request, address: str) -> Json:
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
            # OpenAI's newer models refuse the old name, others do not know the new one.
            body["max_completion_tokens" if address == VENDOR.address else "max_tokens"] = limit
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.stop:
            body["stop"] = list(request.stop)
        return body


async def authorisation(context: ModelContext, vendor: Vendor, address: str) -> tuple[str, dict[str, str]]:
    """The key's name and the headers; an address that is not the vendor's own may need no key."""
    if address == vendor.address and vendor.keys:
        name, key = await context.need_key(vendor)
        return name, {"Authorization": f"Bearer {key}"}
    found = await context.key_of(vendor)
    return ("", {}) if found is None else (found[0], {"Authorization": f"Bearer {found[1]}"})


def write_messages(system: str, messages: Sequence[Message]) -> list[Json]:
    """The talk; pictures out of tools follow their answers in a message of the person's."""
    written: list[Json] = [{"role": "system", "content": system}] if system else []
    for message in joined(messages):
        if isinstance(message, FromPerson):
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
    # The vendor parses this again: what was broken is sent back as an empty object.
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
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


class _Reading:
    """Reads the chunks of one answer; what odd servers leave out is filled in."""

    def __init__(self, vendor: Vendor) -> None:
        self.gathering = Gathering()
        self._vendor = vendor
        self._drafts: dict[object, Draft] = {}
        self._last: object = None

    def take(self, chunk: Json) -> list[ModelEvent]:
        """One chunk; an empty one is the last."""
        if not chunk:
            self.gathering.end()
        if chunk.get("error"):
            raise complain(self._vendor, chunk["error"])
        self._count(chunk.get("usage"))
        events: list[ModelEvent] = []
        for choice in chunk.get("choices") or ():
            events += self._choice(choice)
        return events

    def rest(self) -> list[ModelEvent]:
        """The calls: which piece was the last of one, nobody says."""
        drafts = self._drafts.values()
        return [self.gathering.call(draft.id, draft.name, draft.arguments) for draft in drafts]

    def _choice(self, choice: Json) -> list[ModelEvent]:
        delta = choice.get("delta") or choice.get("message") or {}
        events: list[ModelEvent] = []
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(thought, str) and thought:
            events.append(ThinkingDelta(thought))
        text = delta.get("content")
        if isinstance(text, str) and text:
            self.gathering.say(text)
            events.append(TextDelta(text))
        for position, call in enumerate(delta.get("tool_calls") or ()):
            self._draft(call, position)
        if choice.get("finish_reason"):
            self.gathering.reason = _REASONS.get(choice["finish_reason"], "end")
            self.gathering.ended = True  # The count of tokens follows.
        return events

    def _draft(self, call: Json, position: int) -> None:
        function = call.get("function") or {}
        draft = self._drafts.setdefault(self._slot(call, position), Draft())
        draft.id = draft.id or str(call.get("id") or "")
        draft.name = draft.name or str(function.get("name") or "")
        arguments = function.get("arguments")
        if isinstance(arguments, Mapping):
            arguments = json.dumps(arguments)
        draft.arguments += arguments or ""

    def _slot(self, call: Json, position: int) -> object:
        """Which call a piece belongs to: by its index, else a piece with a name begins the next one."""
        index = call.get("index")
        if index is not None:
            return index
        if (call.get("function") or {}).get("name") or self._last is None:
            self._last = ("unnumbered", len(self._drafts), position)
        return self._last

    def _count(self, usage: Mapping[str, Any] | None) -> None:
        if not usage:
            return
        details = usage.get("prompt_tokens_details") or {}
        self.gathering.usage = Usage(
            input=usage.get("prompt_tokens") or 0,
            output=usage.get("completion_tokens") or 0,
            cached=details.get("cached_tokens") or 0,
            requests=1,
        )
