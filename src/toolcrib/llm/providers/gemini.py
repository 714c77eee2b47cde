"""Google's Gemini: `gemini:gemini-…`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolcrib.errors import AnswerCut, ModelError
from toolcrib.llm.context import ModelContext, Vendor
from toolcrib.llm.gathering import Gathering
from toolcrib.llm.history import joined
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
    name="gemini",
    title="Google Gemini",
    keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    addresses=("GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"),
    address="https://generativelanguage.googleapis.com",
)
CONTEXT = 1_000_000
_VERSIONED = re.compile(r"/v1[a-z0-9]*$")
_REASONS: dict[str, StopReason] = {
    "STOP": "end",
    "MAX_TOKENS": "length",
    "SAFETY": "refused",
    "RECITATION": "refused",
    "BLOCKLIST": "refused",
    "PROHIBITED_CONTENT": "refused",
    "SPII": "refused",
}
_SIGNATURE = "thoughtSignature"
_NO_CALL = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS")
Json = dict[str, Any]


def open_model(model: str, context: ModelContext) -> VendorModel:
    """One model."""
    return VendorModel(Contents(model, context), context)


class Contents:
    """A model of Google."""

    form = "gemini"

    def __init__(self, model: str, context: ModelContext) -> None:
        self.name = context.name_of(VENDOR, model)
        self._model = model.removeprefix("models/")
        self._context = context

    async def traits(self) -> Traits:
        """All of them see pictures and take tools."""
        return Traits(context_tokens=self._context.context_tokens or CONTEXT)

    async def outgoing(self, request: Request) -> Outgoing:
        """The request as the vendor wants it."""
        key_name, key = await self._context.need_key(VENDOR)
        return Outgoing(
            vendor=VENDOR,
            url=f"{self._address()}/models/{self._model}:streamGenerateContent?alt=sse",
            headers={"x-goog-api-key": key},
            body=self._body(request),
            key_name=key_name,
        )

    def reading(self) -> _Reading:
        """For one answer."""
        return _Reading()

    def _address(self) -> str:
        address = self._context.address_of(VENDOR)
        return address if _VERSIONED.search(address) else f"{address}/v1beta"

    def _body(self, request: Request) -> Json:
        body: Json = {"contents": _contents(request.messages)}
        if request.system:
            body["systemInstruction"] = {"parts": [{"text": request.system}]}
        if request.tools:
            body["tools"] = [{"functionDeclarations": list(request.tools)}]
        limits: Json = {
            "maxOutputTokens": request.max_tokens or self._context.max_tokens,
            "temperature": request.temperature,
            "stopSequences": list(request.stop) or None,
        }
        chosen = {key: value for key, value in limits.items() if value is not None}
        return {**body, "generationConfig": chosen} if chosen else body


def _contents(messages: Sequence[Message]) -> list[Json]:
    contents: list[Json] = []
    for message in joined(messages):
        role = "model" if isinstance(message, FromModel) else "user"
        parts = _parts(message)
        if not parts:
            continue
        if contents and contents[-1]["role"] == role:
            contents[-1]["parts"] += parts
        else:
            contents.append({"role": role, "parts": parts})
    return contents


def _parts(message: Message) -> list[Json]:
    if isinstance(message, FromPerson):
        return [_part(part) for part in message.parts]
    if isinstance(message, FromModel):
        return [spoken for part in message.parts if (spoken := _spoken(part)) is not None]
    # All answers first: the vendor wants as many of them, in a row, as there were calls.
    answers = [_result(answer) for answer in message.answers]
    seen: list[Json] = []
    for answer in message.answers:
        if answer.images:
            seen.append({"text": f"Pictures from {answer.name}:"})
            seen += [_part(image) for image in answer.images]
    return [*answers, *seen]


def _part(part: Text | Image) -> Json:
    if isinstance(part, Text):
        return {"text": part.text}
    return {"inlineData": {"mimeType": part.mime, "data": part.data}}


def _spoken(part: Text | ToolUse | Opaque) -> Json | None:
    if isinstance(part, Text):
        return {"text": part.text} if part.text else None
    if isinstance(part, Opaque):
        return dict(part.data) if part.vendor == VENDOR.name else None
    call: Json = {"name": part.name, "args": dict(part.arguments)}
    if "id" in part.vendor:
        call["id"] = part.vendor["id"]
    signature = part.vendor.get(_SIGNATURE)
    return {"functionCall": call, **({_SIGNATURE: signature} if signature else {})}


def _result(answer: ToolAnswer) -> Json:
    response: Json = {"name": answer.name, "response": {"error" if answer.failed else "output": answer.text}}
    return {"functionResponse": response}


class _Reading:
    """Reads the chunks of one answer."""

    def __init__(self) -> None:
        self.gathering = Gathering()

    def take(self, chunk: Json) -> list[ModelEvent]:
        """One chunk."""
        if chunk.get("error"):
            raise complain(VENDOR, chunk["error"])
        self._count(chunk.get("usageMetadata"))
        blocked = (chunk.get("promptFeedback") or {}).get("blockReason")
        if blocked:
            raise ModelError(f"Google Gemini does not take this question: {blocked}.")
        events: list[ModelEvent] = []
        for candidate in (chunk.get("candidates") or ())[:1]:
            for part in (candidate.get("content") or {}).get("parts") or ():
                events += self._part(part)
            self._finish(candidate.get("finishReason"))
        return events

    def rest(self) -> list[ModelEvent]:
        """Nothing: calls come whole."""
        return []

    def _part(self, part: Json) -> list[ModelEvent]:
        if "functionCall" in part:
            call = part["functionCall"]
            vendor = {"id": call["id"]} if call.get("id") else {}
            if part.get(_SIGNATURE):
                vendor[_SIGNATURE] = part[_SIGNATURE]
            name = call.get("name") or ""
            return [self.gathering.call(call.get("id") or "", name, call.get("args"), vendor)]
        text = part.get("text")
        if not isinstance(text, str) or not text:
            return []
        if part.get("thought"):
            return [ThinkingDelta(text)]
        self.gathering.say(text)
        return [TextDelta(text)]

    def _finish(self, reason: str | None) -> None:
        if not reason:
            return
        if reason in _NO_CALL:
            raise AnswerCut(f"Google Gemini wrote a call that cannot be read ({reason}).", hint="Ask again.")
        self.gathering.reason = _REASONS.get(reason, "end")
        self.gathering.ended = True

    def _count(self, usage: Mapping[str, Any] | None) -> None:
        if not usage:
            return
        thought = usage.get("thoughtsTokenCount") or 0
        self.gathering.usage = Usage(
            input=usage.get("promptTokenCount") or 0,
            output=(usage.get("candidatesTokenCount") or 0) + thought,
            cached=usage.get("cachedContentTokenCount") or 0,
            requests=1,
        )
