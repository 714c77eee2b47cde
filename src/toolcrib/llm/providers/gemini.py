"""Google's Gemini API: `gemini:gemini-…`. Has its key and address, assumed context, thought signatures, and
stop reasons.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from toolcrib.errors import AnswerCut
from toolcrib.llm.context import ModelContext, ModelVendor
from toolcrib.llm.history import Limits, joined
from toolcrib.llm.http import VendorRequest
from toolcrib.llm.json_values import Json, count, table, tables, text
from toolcrib.llm.known_models import known_model
from toolcrib.llm.model import CompletionRequest, ModelEvent, ModelTraits
from toolcrib.llm.model_limits import ListedLimits, checked_effort, fetch_json, find_traits
from toolcrib.llm.model_lists import ListedModel, fetch_list
from toolcrib.llm.stream_reader import AnswerBuilder
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
    name="gemini",
    title="Google Gemini",
    keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    addresses=("GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"),
    address="https://generativelanguage.googleapis.com",
    usual="gemini-3.8-flash",
)
CONTEXT = 128_000
"""Assumed if neither this version nor the vendor knows the model."""
_VERSIONED = re.compile(r"/v1[a-z0-9]*$")
_REASONS: dict[str, StopReason] = {
    "STOP": "end",
    "MAX_TOKENS": "length",
    "SAFETY": "filtered",
    "RECITATION": "filtered",
    "LANGUAGE": "filtered",
    "BLOCKLIST": "filtered",
    "PROHIBITED_CONTENT": "filtered",
    "SPII": "filtered",
    "IMAGE_SAFETY": "filtered",
    "IMAGE_PROHIBITED_CONTENT": "filtered",
    "IMAGE_RECITATION": "filtered",
    "IMAGE_OTHER": "filtered",
    "NO_IMAGE": "filtered",
    "MODEL_ARMOR": "filtered",
}
_SIGNATURE = "thoughtSignature"
_NO_SIGNATURE = "skip_thought_signature_validator"
"""Google's placeholder for the signature of a call that another model made."""
_NO_CALL = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE")
_SIGNS = re.compile(r"gemini-(?:[3-9]|\d\d)")
"""Models that reject a first call without a signature."""


def open_model(model: str, context: ModelContext) -> VendorModel:
    return VendorModel(GenerateContent(model, context), context)


async def list_models(context: ModelContext) -> list[ListedModel]:
    """The vendor's own list, without models that do something else, such as embeddings."""
    key_name, key = await context.need_key(VENDOR)
    url = f"{_address(context)}/models?pageSize=1000"
    rows = await fetch_list(context.titled(VENDOR), url, _signed(key), "models", key_name=key_name)
    return [
        ListedModel(
            name=text(row.get("name")).removeprefix("models/"),
            context=count(row.get("inputTokenLimit")) or None,
        )
        for row in rows
        if "generateContent" in (row.get("supportedGenerationMethods") or ["generateContent"])
    ]


def _signed(key: str) -> dict[str, str]:
    return {"x-goog-api-key": key} if key else {}


def _address(context: ModelContext) -> str:
    address = context.address_of(VENDOR)
    return address if _VERSIONED.search(address) else f"{address}/v1beta"


class GenerateContent:
    form = "gemini"
    limits = Limits()

    def __init__(self, model: str, context: ModelContext) -> None:
        self.name = context.name_of(VENDOR, model)
        self._model = model.removeprefix("models/")
        self._known = f"{VENDOR.name}:{self._model}"
        self._context = context
        self._traits: ModelTraits | None = None

    async def traits(self) -> ModelTraits:
        """The limits of the model; the vendor is asked once about one that is not known."""
        if self._traits is None:
            self._traits = await find_traits(
                self._context, VENDOR, self._known, self._ask, CONTEXT, structured=True
            )
        return self._traits

    async def _ask(self) -> ListedLimits:
        _, key = await self._context.need_key(VENDOR)
        found = await fetch_json(VENDOR, f"{self._address()}/models/{self._model}", _signed(key))
        return ListedLimits(count(found.get("inputTokenLimit")), count(found.get("outputTokenLimit")))

    async def vendor_request(self, request: CompletionRequest) -> VendorRequest:
        key_name, key = await self._context.need_key(VENDOR)
        return VendorRequest(
            vendor=VENDOR,
            url=f"{self._address()}/models/{self._model}:streamGenerateContent?alt=sse",
            headers=_signed(key),
            body=self._body(request),
            key_name=key_name,
            origin=f"{self._address()} {self._model}",
        )

    def reader(self) -> _ContentsReader:
        return _ContentsReader()

    def _address(self) -> str:
        return _address(self._context)

    def _body(self, request: CompletionRequest) -> Json:
        origin = f"{self._address()} {self._model}"
        signs = bool(_SIGNS.match(self._model))
        body: Json = {"contents": _contents(request.messages, origin, signs=signs)}
        if request.system:
            body["systemInstruction"] = {"parts": [{"text": request.system}]}
        if request.tools:
            body["tools"] = [{"functionDeclarations": list(request.tools)}]
        limits: Json = {
            "maxOutputTokens": request.max_tokens or self._context.max_tokens,
            "temperature": request.temperature,
            "stopSequences": list(request.stop) or None,
            "thinkingConfig": self._thinking(request) or None,
            # Without the schema: objects with free keys would be rejected, or left empty.
            "responseMimeType": None if request.answer_schema is None else "application/json",
        }
        chosen = {key: value for key, value in limits.items() if value is not None}
        return {**body, "generationConfig": chosen} if chosen else body

    def _thinking(self, request: CompletionRequest) -> Json:
        """Asks to show the reasoning, and for the effort; models that do not reason reject it."""
        effort = checked_effort(self._known, request.effort)
        shown: Json = {"includeThoughts": True} if known_model(self._known).thinks else {}
        return {**shown, "thinkingLevel": effort} if effort else shown


def _contents(messages: Sequence[Message], origin: str = "", *, signs: bool) -> list[Json]:
    contents: list[Json] = []
    ids: Mapping[str, str] = {}
    for message in joined(messages):
        role = "model" if isinstance(message, FromModel) else "user"
        if isinstance(message, FromModel):
            ids = {call.id: call.vendor["id"] for call in message.calls if "id" in call.vendor}
        parts = _parts(message, ids, origin)
        if signs and role == "model":
            _sign(parts)
        if not parts:
            continue
        if contents and contents[-1]["role"] == role:
            contents[-1]["parts"] += parts
        else:
            contents.append({"role": role, "parts": parts})
    return contents


def _parts(message: Message, ids: Mapping[str, str], origin: str) -> list[Json]:
    if isinstance(message, FromUser):
        return [_part(part) for part in message.parts if not isinstance(part, Text) or part.text]
    if isinstance(message, FromModel):
        return [spoken for part in message.parts if (spoken := _spoken(part, origin)) is not None]
    # All answers first: the vendor wants as many in a row as there were calls.
    answers = [_result(answer, ids.get(answer.id)) for answer in message.answers]
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


def _spoken(part: Text | ToolUse | Opaque, origin: str) -> Json | None:
    if isinstance(part, Text):
        return {"text": part.text} if part.text else None
    if isinstance(part, Opaque):
        return dict(part.data) if part.vendor == VENDOR.name and part.origin == origin else None
    call: Json = {"name": part.name, "args": dict(part.arguments)}
    if "id" in part.vendor:
        call["id"] = part.vendor["id"]
    signature = part.vendor.get(_SIGNATURE) if part.vendor.get("origin") == origin else None
    return {"functionCall": call, **({_SIGNATURE: signature} if signature else {})}


def _sign(parts: Sequence[Json]) -> None:
    first = next((part for part in parts if "functionCall" in part), None)
    if first is not None:
        first.setdefault(_SIGNATURE, _NO_SIGNATURE)


def _result(answer: ToolAnswer, id_: str | None) -> Json:
    response: Json = {"name": answer.name, "response": {"error" if answer.failed else "output": answer.text}}
    return {"functionResponse": {"id": id_, **response} if id_ else response}


class _ContentsReader:
    def __init__(self) -> None:
        self.builder = AnswerBuilder()

    def take(self, chunk: Json) -> list[ModelEvent]:
        if chunk.get("error"):
            raise complain(VENDOR, chunk["error"])
        self._count(table(chunk.get("usageMetadata")))
        blocked = text(table(chunk.get("promptFeedback")).get("blockReason"))
        if blocked:
            self.builder.reason, self.builder.detail = "filtered", blocked
            self.builder.ended = True
        events: list[ModelEvent] = []
        for candidate in tables(chunk.get("candidates"))[:1]:
            for part in tables(table(candidate.get("content")).get("parts")):
                events += self._part(part)
            self._finish(candidate)
        return events

    def rest(self) -> None:
        """Calls arrive complete."""

    def _part(self, part: Json) -> list[ModelEvent]:
        call = table(part.get("functionCall"))
        if call:
            own = {"id": call.get("id"), _SIGNATURE: part.get(_SIGNATURE)}
            vendor = {key: value for key, value in own.items() if isinstance(value, str) and value}
            self.builder.call(call.get("id"), call.get("name"), call.get("args"), vendor)
            return []
        if part.get("thought"):
            return self.builder.think(part.get("text"))
        return self.builder.say(part.get("text"))

    def _finish(self, candidate: Json) -> None:
        reason = text(candidate.get("finishReason"))
        if not reason:
            return
        if reason in _NO_CALL:
            raise AnswerCut(f"Google Gemini wrote an invalid call ({reason}).", hint="Ask again.")
        self.builder.reason = _REASONS.get(reason, "unknown")
        if self.builder.reason in ("filtered", "unknown"):
            self.builder.detail = text(candidate.get("finishMessage")) or reason
        self.builder.ended = True

    def _count(self, usage: Json) -> None:
        if not usage:
            return
        sent = count(usage.get("promptTokenCount"))
        self.builder.usage = Usage(
            input=sent,
            output=count(usage.get("candidatesTokenCount")) + count(usage.get("thoughtsTokenCount")),
            cached=min(sent, count(usage.get("cachedContentTokenCount"))),
            requests=1,
        )
