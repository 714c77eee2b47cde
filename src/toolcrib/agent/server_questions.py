"""Answers what a server asks during a call: sampling by the chat's model, elicitation by its user. Limits the
questions per call and the tokens; refuses forms that ask for passwords and other secrets.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.agent.events import AgentEvent, Asking, Sampled
from toolcrib.agent.ports import AgentQuestion, User
from toolcrib.config.settings import AgentSettings
from toolcrib.errors import PeerError
from toolcrib.llm.model import CompletionRequest, Model, complete
from toolcrib.schema.messages import FromModel, FromUser, Image, Message, StopReason, Text, Usage

REFUSED = -1
"""The error code for sampling that the user declined."""
MOST_QUESTIONS = 20
"""Questions that a server may ask the user during one call, and requests to the model without approval."""
_SECRET = re.compile(
    r"pass(word|wd|phrase|code)|secret|api[_ -]?key|(access|auth|bearer|refresh)[_ -]?token|private[_ -]?key"
    r"|credential|credit[_ -]?card|\bcvv\b|\bpin\b",
    re.IGNORECASE,
)


@dataclass(eq=False)
class ServerQuestions:
    """One server's requests during one call of one chat."""

    server: str
    model: Model | None
    user: User | None
    emit: Callable[[AgentEvent], None]
    chat: str
    asked: int = 0
    sampled: int = 0

    async def sample(self, params: Payload, settings: AgentSettings) -> Payload:
        """Ask the chat's model, if the settings or the user allow it."""
        if self.model is None:
            raise PeerError("There is no model for sampling.", code=REFUSED)
        rule = settings.sampling
        if rule == "allow":
            self.sampled += 1
            rule = "allow" if self.sampled <= MOST_QUESTIONS else "ask"
        if rule == "ask":
            text = f"{self.server} wants to send a prompt to {self.model.name}."
            reply = await self._ask("sampling", text, {"asks": asked_text(params)})
            rule = "allow" if reply.get("action") == "accept" else "deny"
        if rule == "deny":
            raise PeerError("The user does not allow servers to use the model.", code=REFUSED)
        answer, usage = await sample(self.model, params)
        self.emit(Sampled(server=self.server, usage=usage))
        return answer

    async def elicit(self, params: Payload) -> Payload:
        """Ask the chat's user, by form or by URL."""
        secret = secret_field(params.get("requestedSchema"))
        if secret:
            raise PeerError(f"Forms must not ask for secrets such as {secret!r}.", code=INVALID_PARAMS)
        text = str(params.get("message") or f"{self.server} asks for input.")
        detail: Payload = {key: params[key] for key in ("requestedSchema", "mode", "url") if key in params}
        return await self._ask("elicitation", text, detail)

    async def _ask(self, about: str, text: str, detail: Payload) -> Payload:
        self.asked += 1
        if self.asked > MOST_QUESTIONS:
            raise PeerError(
                f"{self.server} has reached the limit of {MOST_QUESTIONS} questions in one call.",
                code=REFUSED,
            )
        if self.user is None:
            return {"action": "decline"}
        question = AgentQuestion(
            id=secrets.token_hex(6), about=about, server=self.server, text=text, detail=detail, chat=self.chat
        )
        self.emit(Asking(**vars(question)))
        return dict(await self.user.answer(question))


def secret_field(schema: Any) -> str:
    """The first field of a form that asks for a password or similar; empty if none does."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    for name, field in properties.items() if isinstance(properties, Mapping) else ():
        title = field.get("title", "") if isinstance(field, Mapping) else ""
        if _SECRET.search(str(name)) or _SECRET.search(str(title)):
            return str(name)
    return ""


INVALID_PARAMS = -32602
MOST_TOKENS = 8192
"""Upper limit, whatever the server asks for."""
_REASONS: dict[StopReason, str] = {
    "end": "endTurn",
    "length": "maxTokens",
    "refused": "endTurn",
    "filtered": "endTurn",
    "paused": "endTurn",
    "unknown": "endTurn",
    "calls": "toolUse",
}
Payload = dict[str, Any]


async def sample(model: Model, params: Payload) -> tuple[Payload, Usage]:
    """Ask the model without tools or chat; returns the answer and its usage."""
    finished = await complete(model, read_request(params))
    answer = {
        "role": "assistant",
        "content": {"type": "text", "text": finished.message.text},
        "model": model.name,
        "stopReason": _REASONS[finished.reason],
    }
    return answer, finished.usage


def read_request(params: Payload) -> CompletionRequest:
    """The request; raises `PeerError` if invalid."""
    messages = params.get("messages")
    if not isinstance(messages, list) or not messages:
        raise PeerError("messages must be a list with at least one message.", code=INVALID_PARAMS)
    limit, temperature = params.get("maxTokens"), params.get("temperature")
    stop = params.get("stopSequences")
    return CompletionRequest(
        messages=[_message(message) for message in messages],
        system=str(params.get("systemPrompt") or ""),
        max_tokens=min(limit, MOST_TOKENS) if isinstance(limit, int) and limit > 0 else 1024,
        temperature=float(temperature) if isinstance(temperature, int | float) else None,
        stop=tuple(str(sequence) for sequence in stop) if isinstance(stop, list) else (),
    )


def asked_text(params: Payload) -> str:
    """The server's prompt, for the user who decides."""
    request = read_request(params)
    said = [message.text for message in request.messages if isinstance(message, FromUser | FromModel)]
    return "\n".join(part for part in (request.system, *said) if part)


def _message(data: Any) -> Message:
    if not isinstance(data, Mapping):
        raise PeerError("A message must be an object.", code=INVALID_PARAMS)
    content = data.get("content")
    blocks = content if isinstance(content, list) else [content]
    parts = [_part(block) for block in blocks if isinstance(block, Mapping)]
    if data.get("role") == "assistant":
        return FromModel(parts=tuple(part for part in parts if isinstance(part, Text)))
    return FromUser(parts=tuple(parts))


def _part(block: Mapping[str, Any]) -> Text | Image:
    if block.get("type") == "image" and isinstance(block.get("data"), str):
        return Image(block["data"], str(block.get("mimeType") or "image/png"))
    return Text(str(block.get("text", f"({block.get('type', 'unknown')} that cannot be shown)")))
