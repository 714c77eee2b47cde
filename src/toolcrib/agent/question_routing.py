"""Routes what servers ask to the chat they work for: sampling to its model, elicitation to its user. Keeps
the open questions; `server_questions.py` answers them.

A request belongs to the chat whose call the server is running, the latest if there are several. Without one
it goes to the host's other handlers, or is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from toolcrib.config.settings import AgentSettings
from toolcrib.errors import NotFound, PeerError
from toolcrib.servers.sessions.handlers import Handlers, Hook

if TYPE_CHECKING:
    from toolcrib.agent.events import AgentEvent
    from toolcrib.agent.ports import AgentQuestion, User
    from toolcrib.agent.server_questions import ServerQuestions
    from toolcrib.llm.model import Model


Reply = Mapping[str, Any]


@dataclass(frozen=True)
class PendingQuestion:
    question: AgentQuestion
    reply: asyncio.Future[Reply] = field(repr=False)
    taken: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    """Set once the reply was read, or the question withdrawn."""
    asked_at: datetime = field(default_factory=lambda: datetime.now(UTC))


class OpenQuestions:
    """Open questions; a `User` for surfaces that get questions as events."""

    def __init__(self) -> None:
        self.on_change: Callable[[], object] = lambda: None
        """Called whenever a question is asked or closed."""
        self._open: dict[str, PendingQuestion] = {}

    async def answer(self, question: AgentQuestion) -> Reply:
        asked = PendingQuestion(question, asyncio.get_running_loop().create_future())
        self._open[question.id] = asked
        self.on_change()
        try:
            return await asked.reply
        finally:
            self._open.pop(question.id, None)
            asked.taken.set()
            self.on_change()

    def waiting(self) -> list[PendingQuestion]:
        return list(self._open.values())

    def decide(self, question_id: str, reply: Reply) -> PendingQuestion:
        """Answer a question; raises `NotFound` if it is not open."""
        asked = self._open.get(question_id)
        if asked is None or asked.reply.done():
            raise NotFound(
                f"There is no open question {question_id!r}.", hint="It was answered, or its call has ended."
            )
        asked.reply.set_result(reply)
        return asked


NOBODY = -32601
Payload = dict[str, Any]


class QuestionRouter:
    def __init__(
        self,
        server_of: Callable[[str], str | None],
        settings: Callable[[], AgentSettings],
        otherwise: Handlers | None = None,
    ) -> None:
        self.questions = OpenQuestions()
        """Open questions of surfaces in other processes."""
        self._server_of = server_of
        self._settings = settings
        self._otherwise = otherwise or Handlers()
        self._calls: dict[str, list[ServerQuestions]] = {}

    def handlers(self) -> Handlers:
        return Handlers(sample=self._sample, elicit=self._elicit, roots=self._otherwise.roots)

    @contextmanager
    def watch(
        self,
        tool: str,
        model: Model | None,
        user: User | None,
        emit: Callable[[AgentEvent], None],
        chat: str = "",
    ) -> Iterator[None]:
        """While the block runs, the tool's server works for this chat or page; without a model, sampling is
        refused."""
        server = self._server_of(tool)
        if server is None:
            yield
            return
        from toolcrib.agent.server_questions import ServerQuestions

        call = ServerQuestions(server, model, user, emit, chat)
        calls = self._calls.setdefault(server, [])
        calls.append(call)
        try:
            yield
        finally:
            calls.remove(call)
            if not calls:
                self._calls.pop(server, None)

    async def _sample(self, server: str, params: Payload) -> Payload:
        call = self._latest_call(server)
        if call is None:
            return await _pass_on(self._otherwise.sample, server, params, "sampling/createMessage")
        return await call.sample(params, self._settings())

    async def _elicit(self, server: str, params: Payload) -> Payload:
        call = self._latest_call(server)
        if call is None:
            return await _pass_on(self._otherwise.elicit, server, params, "elicitation/create")
        return await call.elicit(params)

    def _latest_call(self, server: str) -> ServerQuestions | None:
        calls = self._calls.get(server)
        return calls[-1] if calls else None


async def _pass_on(hook: Hook | None, server: str, params: Payload, method: str) -> Payload:
    if hook is None:
        raise PeerError(f"No client can answer {method}.", code=NOBODY)
    return await hook(server, params)
