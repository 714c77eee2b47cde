"""Asks the user of a chat whether a call may run: the question as an event, the reply as the answer. Anything
but a clear yes is a no.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toolcrib.agent.events import AgentEvent, Asking
from toolcrib.agent.ports import AgentQuestion, User
from toolcrib.approvals.question import ApprovalAnswer, ApprovalRequest, read_flow_exception
from toolcrib.schema.approvals import SCOPES, Scope


class ChatAsker:
    """An `Asker` for the user of one turn."""

    def __init__(self, user: User, emit: Callable[[AgentEvent], None]) -> None:
        self._user = user
        self._emit = emit

    async def ask(self, question: ApprovalRequest) -> ApprovalAnswer:
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
