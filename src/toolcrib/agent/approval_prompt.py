"""Asks the user of a chat whether a call may run: the question as an event, the reply as the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

from toolcrib.agent.events import AgentEvent, Asking
from toolcrib.agent.ports import AgentQuestion, User
from toolcrib.approvals.facts import PastCall
from toolcrib.approvals.question import ApprovalAnswer, Asker, CallQuestion, read_flow_exception
from toolcrib.schema.approvals import SCOPES, Mode, Scope
from toolcrib.schema.tools import Principal


@runtime_checkable
class TurnGate(Protocol):
    """The part of the gate that manages sessions."""

    def begin(
        self, principal: Principal, *, asker: Asker | None = None, project: str = "", mode: Mode | None = None
    ) -> object:
        """A session begins, with this asker, working folder and mode."""

    async def recall(self, principal: Principal, calls: Iterable[PastCall]) -> None:
        """Add the session's calls from before this process."""

    def given(self, principal: Principal, texts: Iterable[str]) -> None:
        """The session's user wrote these texts."""

    def end_turn(self, principal: Principal) -> None:
        """End everything granted for one turn."""


class ChatAsker:
    """An `Asker` for the user of one turn."""

    def __init__(self, user: User, emit: Callable[[AgentEvent], None]) -> None:
        self._user = user
        self._emit = emit

    async def ask(self, question: CallQuestion) -> ApprovalAnswer:
        detail = question.as_json()
        text = f"May {question.tool} run?"
        server = question.server or ""
        chat = question.session or ""
        asked = AgentQuestion(
            id=question.id, about="call", server=server, text=text, detail=detail, chat=chat
        )
        self._emit(Asking(**vars(asked)))
        return read_answer(await self._user.answer(asked))


def read_answer(reply: Mapping[str, Any]) -> ApprovalAnswer:
    """The reply as the gate's answer; anything but a clear yes is a no."""
    content = reply.get("content")
    said = content if isinstance(content, Mapping) else {}
    scopes: dict[object, Scope] = {scope: scope for scope in SCOPES}
    return ApprovalAnswer(
        allow=reply.get("action") == "accept",
        scope=scopes.get(said.get("scope"), "once"),
        message=str(said.get("message") or ""),
        any_arguments=said.get("any_arguments") is True,
        lift=read_flow_exception(said.get("lift")),
        whole_turn=said.get("whole_turn") is True,
        by=str(reply.get("by") or ""),
    )
