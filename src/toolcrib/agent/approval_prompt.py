"""Asks the person of a chat whether a call may run: its question as an event, the reply as the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

from toolcrib.agent.events import AgentEvent, Asking
from toolcrib.agent.ports import Person
from toolcrib.agent.ports import Question as ChatQuestion
from toolcrib.approvals.facts import PastCall
from toolcrib.approvals.question import Answer, Asker, Question, read_lift
from toolcrib.schema.approvals import SCOPES, Mode, Scope
from toolcrib.schema.tools import Principal


@runtime_checkable
class TurnGate(Protocol):
    """The part of the gate that knows of sessions."""

    def begin(
        self, principal: Principal, *, asker: Asker | None = None, project: str = "", mode: Mode | None = None
    ) -> object:
        """A session begins: who is asked, which folder it works in, and in which mode."""

    def recall(self, principal: Principal, calls: Iterable[PastCall]) -> None:
        """What the session did before this process knew of it."""

    def end_turn(self, principal: Principal) -> None:
        """What was granted for one turn ends."""


class ChatAsker:
    """An `Asker` that asks the person of one turn."""

    def __init__(self, person: Person, emit: Callable[[AgentEvent], None]) -> None:
        self._person = person
        self._emit = emit

    async def ask(self, question: Question) -> Answer:
        """Show the call, and wait."""
        detail = question.as_json()
        text = f"May {question.tool} run?"
        server = question.server or ""
        chat = question.session or ""
        asked = ChatQuestion(id=question.id, about="call", server=server, text=text, detail=detail, chat=chat)
        self._emit(Asking(**vars(asked)))
        return read_answer(await self._person.answer(asked))


def read_answer(reply: Mapping[str, Any]) -> Answer:
    """The reply as the gate wants it; whatever is not a clear yes is a no."""
    content = reply.get("content")
    said = content if isinstance(content, Mapping) else {}
    scopes: dict[object, Scope] = {scope: scope for scope in SCOPES}
    return Answer(
        allow=reply.get("action") == "accept",
        scope=scopes.get(said.get("scope"), "once"),
        message=str(said.get("message") or ""),
        any_arguments=said.get("any_arguments") is True,
        lift=read_lift(said.get("lift")),
        whole_turn=said.get("whole_turn") is True,
    )
