"""`question_show`: a question about a call as a person is shown it, whoever asks it and wherever it waits."""

from __future__ import annotations

from typing import Any

from toolcrib.control.answers.chats import CallQuestion
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.question_shapes import shown_question
from toolcrib.errors import NotFound
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The question's id."""

    id: str


def needs(params: Params, configured: Configured) -> Needs:
    """It is open in a running host, or kept in the database."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> CallQuestion:
    """Raises `NotFound` when it does not wait any more."""
    return await shown_question(host, await _find(host, params.id))


async def _find(host: Host, question_id: str) -> dict[str, Any]:
    for one in host.client_requests.questions.waiting():
        if one.question.id == question_id and one.question.about == "call":
            return dict(one.question.detail)
    for kept in await host.questions.requests.waiting():
        if kept.question["id"] == question_id:
            return dict(kept.question)
    raise NotFound(f"No question {question_id!r} waits.", hint="It was answered, or what asked it has ended.")
