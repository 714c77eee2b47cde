"""A call under way on behalf of a chat: what its server asks goes to that chat's model and person."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.agent.events import AgentEvent, Asking, Sampled
from toolcrib.agent.ports import Person, Question
from toolcrib.agent.sampling import asked_text, sample
from toolcrib.config.settings import AgentSettings
from toolcrib.errors import PeerError
from toolcrib.llm.model import Model

REFUSED = -1
"""What clients answer when the person said no to sampling."""
INVALID_PARAMS = -32602
MOST_QUESTIONS = 20
"""That a server may ask of a person during one call, and of a model unasked; then it is shown, or refused."""
_SECRET = re.compile(
    r"pass(word|wd|phrase|code)|secret|api[_ -]?key|(access|auth|bearer|refresh)[_ -]?token|private[_ -]?key"
    r"|credential|credit[_ -]?card|\bcvv\b|\bpin\b",
    re.IGNORECASE,
)
Payload = dict[str, Any]


@dataclass(eq=False)
class Visit:
    """One server's call for one chat."""

    server: str
    model: Model | None
    person: Person | None
    emit: Callable[[AgentEvent], None]
    chat: str
    asked: int = 0
    sampled: int = 0

    async def sample(self, params: Payload, settings: AgentSettings) -> Payload:
        """Ask the chat's model, where the settings or the person let the server do so."""
        if self.model is None:
            raise PeerError("There is no model to ask.", code=REFUSED)
        rule = settings.sampling
        if rule == "allow":
            self.sampled += 1
            rule = "allow" if self.sampled <= MOST_QUESTIONS else "ask"
        if rule == "ask":
            text = f"{self.server} wants to ask {self.model.name}."
            reply = await self._ask("sampling", text, {"asks": asked_text(params)})
            rule = "allow" if reply.get("action") == "accept" else "deny"
        if rule == "deny":
            raise PeerError("The person does not let servers ask the model.", code=REFUSED)
        answer, usage = await sample(self.model, params)
        self.emit(Sampled(server=self.server, usage=usage))
        return answer

    async def elicit(self, params: Payload) -> Payload:
        """Ask the chat's person, by form or by address."""
        secret = secret_field(params.get("requestedSchema"))
        if secret:
            raise PeerError(f"A form is no place for secrets, and {secret!r} is one.", code=INVALID_PARAMS)
        text = str(params.get("message") or f"{self.server} asks for something.")
        detail: Payload = {key: params[key] for key in ("requestedSchema", "mode", "url") if key in params}
        return await self._ask("elicitation", text, detail)

    async def _ask(self, about: str, text: str, detail: Payload) -> Payload:
        self.asked += 1
        if self.asked > MOST_QUESTIONS:
            raise PeerError(
                f"{self.server} has asked {MOST_QUESTIONS} times in one call; no more.", code=REFUSED
            )
        if self.person is None:
            return {"action": "decline"}
        question = Question(
            id=secrets.token_hex(6), about=about, server=self.server, text=text, detail=detail, chat=self.chat
        )
        self.emit(Asking(**vars(question)))
        return dict(await self.person.answer(question))


def secret_field(schema: Any) -> str:
    """The first field of a form that asks for a password or the like; empty when none does."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    for name, field in properties.items() if isinstance(properties, Mapping) else ():
        title = field.get("title", "") if isinstance(field, Mapping) else ""
        if _SECRET.search(str(name)) or _SECRET.search(str(title)):
            return str(name)
    return ""
