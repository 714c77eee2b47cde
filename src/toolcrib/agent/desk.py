"""Answers what servers ask while they work for a chat: its model for sampling, its person for elicitation.

A request belongs to the chat whose call the server is working on; where several are, to the latest. A server
that works for no chat is answered by whoever else the host was given, or refused.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from toolcrib.agent.events import AgentEvent, Asking, Sampled
from toolcrib.agent.ports import Person, Question
from toolcrib.agent.questions import Questions
from toolcrib.agent.sampling import asked_text, sample
from toolcrib.config.settings import AgentSettings
from toolcrib.errors import PeerError
from toolcrib.llm.model import Model
from toolcrib.servers.sessions.handlers import Handlers, Hook

REFUSED = -1
"""What clients answer when the person said no to sampling."""
NOBODY = -32601
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
class _Visit:
    """A call under way on behalf of a chat."""

    model: Model
    person: Person | None
    emit: Callable[[AgentEvent], None]
    chat: str
    asked: int = 0
    sampled: int = 0


class Desk:
    """Where servers' questions arrive. `settings` may be replaced."""

    def __init__(
        self,
        server_of: Callable[[str], str | None],
        settings: Callable[[], AgentSettings],
        otherwise: Handlers | None = None,
    ) -> None:
        self.questions = Questions()
        """Open questions of surfaces that are elsewhere."""
        self._server_of = server_of
        self._settings = settings
        self._otherwise = otherwise or Handlers()
        self._visits: dict[str, list[_Visit]] = {}

    def handlers(self) -> Handlers:
        """The hooks for the host's connections."""
        return Handlers(sample=self._sample, elicit=self._elicit, roots=self._otherwise.roots)

    @contextmanager
    def watch(
        self,
        tool: str,
        model: Model,
        person: Person | None,
        emit: Callable[[AgentEvent], None],
        chat: str = "",
    ) -> Iterator[None]:
        """While the block runs, the tool's server works for this chat."""
        server = self._server_of(tool)
        if server is None:
            yield
            return
        visit = _Visit(model, person, emit, chat)
        visits = self._visits.setdefault(server, [])
        visits.append(visit)
        try:
            yield
        finally:
            visits.remove(visit)
            if not visits:
                self._visits.pop(server, None)

    async def _sample(self, server: str, params: Payload) -> Payload:
        visit = self._visit(server)
        if visit is None:
            return await _pass_on(self._otherwise.sample, server, params, "sampling/createMessage")
        rule = self._settings().sampling
        if rule == "allow":
            visit.sampled += 1
            rule = "allow" if visit.sampled <= MOST_QUESTIONS else "ask"
        if rule == "ask":
            text = f"{server} wants to ask {visit.model.name}."
            reply = await self._ask(visit, server, "sampling", text, {"asks": asked_text(params)})
            rule = "allow" if reply.get("action") == "accept" else "deny"
        if rule == "deny":
            raise PeerError("The person does not let servers ask the model.", code=REFUSED)
        answer, usage = await sample(visit.model, params)
        visit.emit(Sampled(server=server, usage=usage))
        return answer

    async def _elicit(self, server: str, params: Payload) -> Payload:
        visit = self._visit(server)
        if visit is None:
            return await _pass_on(self._otherwise.elicit, server, params, "elicitation/create")
        secret = secret_field(params.get("requestedSchema"))
        if secret:
            raise PeerError(f"A form is no place for secrets, and {secret!r} is one.", code=INVALID_PARAMS)
        text = str(params.get("message") or f"{server} asks for something.")
        detail: Payload = {key: params[key] for key in ("requestedSchema", "mode", "url") if key in params}
        return await self._ask(visit, server, "elicitation", text, detail)

    async def _ask(self, visit: _Visit, server: str, about: str, text: str, detail: Payload) -> Payload:
        visit.asked += 1
        if visit.asked > MOST_QUESTIONS:
            raise PeerError(f"{server} has asked {MOST_QUESTIONS} times in one call; no more.", code=REFUSED)
        if visit.person is None:
            return {"action": "decline"}
        question = Question(
            id=secrets.token_hex(6), about=about, server=server, text=text, detail=detail, chat=visit.chat
        )
        visit.emit(Asking(**vars(question)))
        return dict(await visit.person.answer(question))

    def _visit(self, server: str) -> _Visit | None:
        visits = self._visits.get(server)
        return visits[-1] if visits else None


def secret_field(schema: Any) -> str:
    """The first field of a form that asks for a password or the like; empty when none does."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    for name, field in properties.items() if isinstance(properties, Mapping) else ():
        title = field.get("title", "") if isinstance(field, Mapping) else ""
        if _SECRET.search(str(name)) or _SECRET.search(str(title)):
            return str(name)
    return ""


async def _pass_on(hook: Hook | None, server: str, params: Payload, method: str) -> Payload:
    if hook is None:
        raise PeerError(f"Nobody is here to answer {method}.", code=NOBODY)
    return await hook(server, params)
