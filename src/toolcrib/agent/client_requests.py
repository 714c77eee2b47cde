"""Answers what servers ask while they work for a chat: its model for sampling, its person for elicitation.

A request belongs to the chat whose call the server is working on; where several are, to the latest. A server
that works for no chat is answered by whoever else the host was given, or refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from toolcrib.agent.questions import Questions
from toolcrib.config.settings import AgentSettings
from toolcrib.errors import PeerError
from toolcrib.servers.sessions.handlers import Handlers, Hook

if TYPE_CHECKING:
    from toolcrib.agent.chat_session import Visit
    from toolcrib.agent.events import AgentEvent
    from toolcrib.agent.ports import Person
    from toolcrib.llm.model import Model

NOBODY = -32601
Payload = dict[str, Any]


class ClientRequests:
    """Where servers' questions arrive."""

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
        self._visits: dict[str, list[Visit]] = {}

    def handlers(self) -> Handlers:
        """The hooks for the host's connections."""
        return Handlers(sample=self._sample, elicit=self._elicit, roots=self._otherwise.roots)

    @contextmanager
    def watch(
        self,
        tool: str,
        model: Model | None,
        person: Person | None,
        emit: Callable[[AgentEvent], None],
        chat: str = "",
    ) -> Iterator[None]:
        """While the block runs, the tool's server works for this chat, or for a page; without a model it can
        ask none."""
        server = self._server_of(tool)
        if server is None:
            yield
            return
        from toolcrib.agent.chat_session import Visit

        visit = Visit(server, model, person, emit, chat)
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
        return await visit.sample(params, self._settings())

    async def _elicit(self, server: str, params: Payload) -> Payload:
        visit = self._visit(server)
        if visit is None:
            return await _pass_on(self._otherwise.elicit, server, params, "elicitation/create")
        return await visit.elicit(params)

    def _visit(self, server: str) -> Visit | None:
        visits = self._visits.get(server)
        return visits[-1] if visits else None


async def _pass_on(hook: Hook | None, server: str, params: Payload, method: str) -> Payload:
    if hook is None:
        raise PeerError(f"Nobody is here to answer {method}.", code=NOBODY)
    return await hook(server, params)
