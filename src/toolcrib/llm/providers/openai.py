"""OpenAI's chat completions and compatible APIs: `openai:gpt-…`. Has the differences of compatible servers:
fields for reasoning, stop reasons, ids of calls (Mistral), assumed context, lists of models. Decides which of
OpenAI's models are asked through the responses API instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from toolcrib.errors import AnswerCut
from toolcrib.llm.context import ModelContext, ModelVendor
from toolcrib.llm.history import NINE_CHARACTERS, Limits, in_turns_with_calls, joined
from toolcrib.llm.http import VendorRequest
from toolcrib.llm.json_values import Json, count, encode, identifier, is_valid, table, tables, text
from toolcrib.llm.known_models import known_model
from toolcrib.llm.model import CompletionRequest, ModelEvent, ModelTraits
from toolcrib.llm.model_limits import (
    ListedLimits,
    checked_effort,
    compatible_context,
    compatible_limits,
    find_traits,
)
from toolcrib.llm.model_lists import ListedModel, fetch_list
from toolcrib.llm.stream_reader import AnswerBuilder, CallDraft, TaggedReasoning, read_arguments
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
    ToolUse,
    Usage,
)

VENDOR = ModelVendor(
    name="openai",
    title="OpenAI",
    keys=("OPENAI_API_KEY",),
    addresses=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    address="https://api.openai.com/v1",
    usual="gpt-6.1-sol",
)
CONTEXT = 128_000
_PROTOCOL = "openai"
_REASONING = ("reasoning_content", "reasoning")
"""Where servers put reasoning; DeepSeek and others want it back under the same name."""
_DETAILS = "reasoning_details"
"""OpenRouter's form of it."""
_EXTRA = "extra_content"
"""Where Gemini's compatible address puts the signature of a call."""
_UNSIGNED = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""Google's placeholder for a call that another model made."""
_SIGNS = re.compile(r"gemini-(?:[3-9]|\d\d)")
"""Models that reject a first call without a signature."""
_REASONS: dict[str, StopReason] = {
    "stop": "end",
    "eos": "end",
    "eos_token": "end",
    "stop_sequence": "end",
    "end_turn": "end",
    "complete": "end",
    "null": "end",
    "tool_calls": "calls",
    "tool_call": "calls",
    "tool_use": "calls",
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


_RESPONSES_ONLY = re.compile(r"-codex|-pro\b|deep-research|computer-use")
"""Parts of the names of models that OpenAI serves by its responses API alone."""
_PER_TOKEN = 1_000_000
_OTHER_KINDS = ("audio", "embedding", "embeddings", "image", "moderation", "rerank", "transcribe", "video")
"""What Together calls models that do not chat."""


def open_model(model: str, context: ModelContext, vendor: ModelVendor = VENDOR) -> VendorModel:
    """One model; by the responses API where OpenAI offers it no other, or no tools in any other."""
    if context.address_of(vendor) == VENDOR.address and needs_responses(model):
        from toolcrib.llm.providers import openai_responses

        return openai_responses.open_model(model, replace(context, alias=context.alias or vendor.name))
    return VendorModel(Completions(model, context, context.titled(vendor)), context)


def needs_responses(model: str) -> bool:
    return known_model(f"{VENDOR.name}:{model}").responses or bool(_RESPONSES_ONLY.search(model))


async def list_models(context: ModelContext, vendor: ModelVendor = VENDOR) -> list[ListedModel]:
    """The list of OpenAI or of a compatible server, without models of which it says that they do not chat."""
    address = context.address_of(vendor)
    key_name, headers = await authorisation(context, vendor, address)
    rows = await fetch_list(context.titled(vendor), f"{address}/models", headers, "data", key_name=key_name)
    return [_listed(row) for row in rows if _chats(row)]


def _listed(row: Json) -> ListedModel:
    price = table(row.get("pricing"))
    return ListedModel(
        name=identifier(row.get("id")),
        context=compatible_context(row) or None,
        input=_price(price.get("prompt"), _PER_TOKEN) or _price(price.get("input"), 1),
        output=_price(price.get("completion"), _PER_TOKEN) or _price(price.get("output"), 1),
        created=_date(count(row.get("created"))),
    )


def _date(seconds: int) -> str:
    """As ISO; empty if it is no time of this century, such as the 1 of some servers."""
    return datetime.fromtimestamp(seconds, UTC).date().isoformat() if 10**9 < seconds < 10**10 else ""


def _price(value: object, times: int) -> float | None:
    """Dollars for a million tokens: OpenRouter gives them for one, as text, and Together for a million."""
    try:
        found = float(value) * times if isinstance(value, str | int | float) else -1.0
    except ValueError:
        return None
    return round(found, 6) if 0 <= found < _PER_TOKEN else None


def _chats(row: Json) -> bool:
    if table(row.get("capabilities")).get("completion_chat") is False:  # Mistral
        return False
    outputs = table(row.get("architecture")).get("output_modalities")  # OpenRouter
    if isinstance(outputs, list) and "text" not in outputs:
        return False
    return row.get("type") not in _OTHER_KINDS


class Completions:
    form = "openai"

    def __init__(self, model: str, context: ModelContext, vendor: ModelVendor) -> None:
        self.name = context.name_of(vendor, model)
        self._model = model
        self._vendor = vendor
        self._context = context
        self._traits: ModelTraits | None = None
        self.limits = NINE_CHARACTERS if any(name in model.lower() for name in _MISTRAL) else Limits()

    async def traits(self) -> ModelTraits:
        """The limits of the model; a server is asked once about one that is not known."""
        if self._traits is None:
            self._traits = await chat_traits(self._context, self._vendor, self.name)
        return self._traits

    async def vendor_request(self, request: CompletionRequest) -> VendorRequest:
        address = self._context.address_of(self._vendor)
        key_name, headers = await authorisation(self._context, self._vendor, address)
        return VendorRequest(
            vendor=self._vendor,
            url=f"{address}/chat/completions",
            headers=headers,
            body=self._body(request, address),
            key_name=key_name,
            origin=f"{address} {self._model}",
        )

    def reader(self) -> _CompletionsReader:
        return _CompletionsReader(self._vendor)

    def _body(self, request: CompletionRequest, address: str) -> Json:
        body: Json = {
            "model": self._model,
            "messages": write_messages(request.system, request.messages, f"{address} {self._model}"),
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
        if request.effort:
            body["reasoning_effort"] = checked_effort(self.name, request.effort)
        if request.answer_schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": answer_format(request.answer_schema),
            }
        return body


async def chat_traits(context: ModelContext, vendor: ModelVendor, name: str) -> ModelTraits:
    """The traits of a model; OpenAI's own list has no limits, those of other servers may."""
    address = context.address_of(vendor)

    async def ask() -> ListedLimits:
        if address == VENDOR.address:
            return ListedLimits()
        _, headers = await authorisation(context, vendor, address)
        return await compatible_limits(vendor, address, headers, name.partition(":")[2])

    return await find_traits(context, vendor, name, ask, CONTEXT, structured=True)


def answer_format(schema: Mapping[str, Any]) -> Json:
    """The format of a structured answer; `strict` would forbid objects with free keys."""
    return {"name": "answer", "schema": dict(schema), "strict": False}


async def authorisation(
    context: ModelContext, vendor: ModelVendor, address: str
) -> tuple[str, dict[str, str]]:
    """The key's name and the headers; an address other than the vendor's own may need no key."""
    if address == vendor.address and vendor.keys:
        name, key = await context.need_key(vendor)
        return name, {"Authorization": f"Bearer {key}"}
    found = await context.key_of(vendor)
    return ("", {}) if found is None else (found[0], {"Authorization": f"Bearer {found[1]}"})


def write_messages(system: str, messages: Sequence[Message], origin: str = "") -> list[Json]:
    """The messages; tools' pictures follow their answers in a user message.

    `origin` is the address and the model: they get their own reasoning back.
    """
    written: list[Json] = [{"role": "system", "content": system}] if system else []
    said = joined(messages)
    for message, calling in zip(said, in_turns_with_calls(said), strict=True):
        if isinstance(message, FromUser):
            written.append({"role": "user", "content": _content(message.parts)})
        elif isinstance(message, FromModel):
            written.append({**_spoken(message, origin), **_reasoning(message, origin, calling=calling)})
        else:
            written += _results(message)
    if "deepseek" in origin.lower() or any(_REASONING[0] in message for message in written):
        # DeepSeek rejects calls without this field, also if another model made them.
        for message_ in written:
            if "tool_calls" in message_:
                message_.setdefault(_REASONING[0], "")
    return written


def _reasoning(message: FromModel, origin: str, *, calling: bool) -> Json:
    """The reasoning that the server wants back: as plain text only in turns with calls, where it goes on."""
    found: Json = {}
    for part in message.parts:
        if isinstance(part, Opaque) and part.vendor == _PROTOCOL and part.origin == origin:
            for name, value in part.data.items():
                if name == _DETAILS or calling:
                    found[name] = found[name] + value if name in found else value
    return found


def _content(parts: Sequence[Text | Image]) -> str | list[Json]:
    if all(isinstance(part, Text) for part in parts):
        return "\n".join(part.text for part in parts if isinstance(part, Text))
    return [_part(part) for part in parts]


def _part(part: Text | Image) -> Json:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    return {"type": "image_url", "image_url": {"url": f"data:{part.mime};base64,{part.data}"}}


def _spoken(message: FromModel, origin: str) -> Json:
    written: Json = {"role": "assistant", "content": message.text or None}
    if message.calls:
        calls = [_call(call, origin) for call in message.calls]
        if _SIGNS.match(origin.rpartition(" ")[2]):
            calls[0].setdefault(_EXTRA, _UNSIGNED)
        written["tool_calls"] = calls
    elif not message.text:
        written["content"] = ""
    return written


def _call(call: ToolUse, origin: str) -> Json:
    # The vendor parses this again: broken arguments are sent as an empty object.
    arguments = encode(dict(call.arguments)).decode()
    extra = call.vendor.get(_EXTRA) if call.vendor.get("origin") == origin else None
    written: Json = {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }
    return {**written, _EXTRA: extra} if extra else written


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

    def __init__(self, vendor: ModelVendor) -> None:
        self.builder = AnswerBuilder(tagged=TaggedReasoning())
        self._vendor = vendor
        self._drafts: dict[object, CallDraft] = {}
        self._extras: dict[object, Json] = {}
        self._last: object = None
        self._numbered: dict[int, object] = {}
        """The latest call with each index."""
        self._refused = False
        self._thought: dict[str, str] = {}
        self._details: list[Json] = []

    def take(self, chunk: Json) -> list[ModelEvent]:
        """One chunk; an empty one is the last."""
        if not chunk:
            self.builder.end()
        failed = chunk.get("error") or (
            "choices" not in chunk and (chunk.get("message") or chunk.get("detail"))
        )
        if failed:
            raise complain(self._vendor, failed)
        self._count(table(chunk.get("usage")))
        # Only one answer was requested; a second one would be mixed with it.
        return [event for choice in tables(chunk.get("choices"))[:1] for event in self._choice(choice)]

    def rest(self) -> None:
        """The calls: the protocol does not mark their last chunk."""
        builder = self.builder
        for slot, draft in self._drafts.items():
            own = {_EXTRA: self._extras[slot]} if slot in self._extras else None
            builder.call(draft.id, draft.name, draft.arguments, own, closed=builder.reason is not None)
        kept: Json = {_DETAILS: self._details} if self._details else dict(self._thought)
        if kept:
            builder.keep(Opaque(vendor=_PROTOCOL, data=kept), first=True)
        if self._refused and builder.reason in (None, "end", "calls"):
            builder.reason = "refused"

    def _choice(self, choice: Json) -> list[ModelEvent]:
        delta = table(choice.get("delta")) or table(choice.get("message"))
        self._count(table(choice.get("usage")))  # Moonshot reports it here.
        events = [*self._think(delta), *self.builder.say(_words(delta.get("content")))]
        refusal = text(delta.get("refusal"))
        if refusal:
            self._refused = True
            events += self.builder.say(refusal)
        for position, call in enumerate(tables(delta.get("tool_calls"))):
            self._draft(call, position)
        self._finish(text(choice.get("finish_reason")))
        return events

    def _think(self, delta: Json) -> list[ModelEvent]:
        for detail in tables(delta.get(_DETAILS)):
            _add_detail(self._details, detail)
        name = next((name for name in _REASONING if text(delta.get(name))), None)
        if name is None:
            return []
        self._thought[name] = self._thought.get(name, "") + text(delta[name])
        return self.builder.think(delta[name])

    def _finish(self, reason: str) -> None:
        if not reason:
            return
        if reason.lower() in _BROKEN:
            raise AnswerCut(f"{self._vendor.title}'s answer was cut off: {reason}.", hint="Ask again.")
        self.builder.reason = _REASONS.get(reason.lower().replace("-", "_"), "unknown")
        if self.builder.reason in ("filtered", "unknown"):
            self.builder.detail = reason
        self.builder.ended = True  # The usage follows.

    def _draft(self, call: Json, position: int) -> None:
        function = table(call.get("function"))
        slot = self._slot(call, position)
        draft = self._drafts.setdefault(slot, CallDraft())
        if table(call.get(_EXTRA)):
            self._extras[slot] = table(call[_EXTRA])
        draft.id = draft.id or identifier(call.get("id"))
        draft.name = draft.name or text(function.get("name"))
        arguments = function.get("arguments")
        draft.arguments += _as_text(arguments)

    def _slot(self, call: Json, position: int) -> object:
        """Which call a chunk belongs to: by its index, else by its id, else a name begins the next one."""
        index, id_ = call.get("index"), identifier(call.get("id"))
        index = int(text(index)) if text(index).isdecimal() else index
        if isinstance(index, int):
            slot = self._numbered.get(index, index)
            if self._begins_another(call, self._drafts.get(slot)):
                slot = (slot, len(self._drafts))  # Some servers give every call the same index.
            self._numbered[index] = slot
            return slot
        same = [slot for slot, draft in self._drafts.items() if id_ and draft.id == id_]
        if same and not self._begins_another(call, self._drafts[same[-1]]):
            self._last = same[-1]
        elif _name(call) or self._last is None:
            self._last = ("unnumbered", len(self._drafts), position)
        return self._last

    def _begins_another(self, call: Json, begun: CallDraft | None) -> bool:
        """Whether a chunk begins a call, although it is numbered like this one."""
        name, id_ = _name(call), identifier(call.get("id"))
        if begun is None or not begun.name or not name:
            return False
        if id_ and begun.id and id_ != begun.id:
            return True
        more = _as_text(table(call.get("function")).get("arguments"))
        whole = bool(begun.arguments) and read_arguments(begun.arguments)[1] is None
        return (name != begun.name and not id_) or (whole and bool(more))

    def _count(self, usage: Json) -> None:
        if not usage:
            return
        sent = count(usage.get("prompt_tokens"))
        details = table(usage.get("prompt_tokens_details"))
        cached = details.get("cached_tokens") or usage.get("prompt_cache_hit_tokens")
        self.builder.usage = Usage(
            input=sent,
            output=count(usage.get("completion_tokens")),
            cached=min(sent, count(cached or usage.get("cached_tokens"))),
            written=min(sent, count(details.get("cache_write_tokens"))),
            requests=1,
        )


def _name(call: Json) -> str:
    return text(table(call.get("function")).get("name"))


def _add_detail(details: list[Json], more: Json) -> None:
    """Add a piece of OpenRouter's reasoning; the pieces of one text are joined."""
    last = details[-1] if details else {}
    same = all(last.get(key) == more.get(key) for key in ("type", "index"))
    if not same or last.get("type") not in ("reasoning.text", "reasoning.summary"):
        details.append(dict(more))
        return
    for key, value in more.items():
        grows = key in ("text", "summary") and isinstance(last.get(key), str) and isinstance(value, str)
        if value is not None:
            last[key] = last[key] + value if grows else value


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
