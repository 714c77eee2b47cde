"""Answers what servers ask while they work for a chat: its model for sampling, its person for elicitation.

A request belongs to the chat whose call the server is working on; where several are, to the latest. A server
that works for no chat is answered by whoever else the host was given, or refused.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from toolcrib.agent.events import AgentEvent, Asking
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
Payload = dict[str, Any]


@dataclass(frozen=True, eq=False)
class _Visit:
    """A call under way on behalf of a chat."""

    model: Model
    person: Person | None
    emit: Callable[[AgentEvent], None]


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
        self, tool: str, model: Model, person: Person | None, emit: Callable[[AgentEvent], None]
    ) -> Iterator[None]:
        """While the block runs, the tool's server works for this chat."""
        server = self._server_of(tool)
        if server is None:
            yield
            return
        visit = _Visit(model, person, emit)
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
        if rule == "ask":
            text = f"{server} wants to ask {visit.model.name}."
            reply = await self._ask(visit, server, "sampling", text, {"asks": asked_text(params)})
            rule = "allow" if reply.get("action") == "accept" else "deny"
        if rule == "deny":
            raise PeerError("The person does not let servers ask the model.", code=REFUSED)
        return await sample(visit.model, params)

    async def _elicit(self, server: str, params: Payload) -> Payload:
        visit = self._visit(server)
        if visit is None:
            return await _pass_on(self._otherwise.elicit, server, params, "elicitation/create")
        text = str(params.get("message") or f"{server} asks for something.")
        detail: Payload = {key: params[key] for key in ("requestedSchema", "mode", "url") if key in params}
        return await self._ask(visit, server, "elicitation", text, detail)

    async def _ask(self, visit: _Visit, server: str, about: str, text: str, detail: Payload) -> Payload:
        if visit.person is None:
            return {"action": "decline"}
        question = Question(id=secrets.token_hex(6), about=about, server=server, text=text, detail=detail)
        visit.emit(Asking(id=question.id, about=about, server=server, text=text, detail=detail))
        return dict(await visit.person.answer(question))

    def _visit(self, server: str) -> _Visit | None:
        visits = self._visits.get(server)
        return visits[-1] if visits else None


async def _pass_on(hook: Hook | None, server: str, params: Payload, method: str) -> Payload:
    if hook is None:
        raise PeerError(f"Nobody is here to answer {method}.", code=NOBODY)
    return await hook(server, params)
