"""`chat_continue`: continue the last answer of a chat, which was interrupted, stopped or failed."""

from __future__ import annotations

from toolcrib.control.answers.chats import TurnStarted
from toolcrib.control.chat_starting import agent_for, resume_turn, settled
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.host import Host
from toolcrib.schema.approvals import Mode

FOR_PAGES = True


class Params(OperationParams):
    """Which chat, and who answers."""

    chat: str
    model: str | None = None
    """The chat's model when left out."""
    mode: Mode | None = None


def needs(params: Params, configured: Configured) -> Needs:
    """A host that goes on running."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> TurnStarted:
    """`{chat, turn}`, as soon as it has begun; raises `UsageError` when the last answer is complete."""
    chat = await host.chats.load(params.chat)
    agent = await agent_for(host, chat, model=params.model, mode=params.mode)
    await settled(host)
    turn = await resume_turn(host, agent, chat)
    return {"chat": turn.chat, "turn": turn.id}
