"""`chat_reply`: a person answers what a running turn asks."""

from __future__ import annotations

from typing import Any, Literal

from toolcrib.control.answers.models import ReplyTaken
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import Configured, Emit, Needs
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The question's id, and what the person says."""

    id: str
    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None


def needs(params: Params, configured: Configured) -> Needs:
    """The host whose turn asks; in a command's own process, the one that is open already."""
    return Needs(lazy=True)


async def run(host: Host, params: Params, emit: Emit) -> ReplyTaken:
    """`{id}`; raises `NotFound` when the question is not open any more."""
    reply: dict[str, Any] = {"action": params.action}
    if params.content is not None:
        reply["content"] = params.content
    host.client_requests.questions.decide(params.id, reply)
    return {"id": params.id}
