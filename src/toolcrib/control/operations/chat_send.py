"""`chat_send`: ask something in a chat; the turn runs in the host and goes on when nobody looks."""

from __future__ import annotations

from pydantic import Field

from toolcrib.agent.pictures import attached_picture
from toolcrib.control.answers.chats import TurnStarted
from toolcrib.control.chat_starting import agent_for, settled, start_turn
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.errors import UsageError
from toolcrib.host import Host
from toolcrib.schema.approvals import Mode

FOR_PAGES = True

MOST_PICTURES = 8
LARGEST_PICTURE = 5_000_000
"""Characters of base64; the strictest vendor takes 5 MB."""


class Picture(OperationParams):
    """An image that belongs to the question."""

    data: str = Field(max_length=LARGEST_PICTURE)
    mime: str = Field(default="image/png", pattern=r"^image/(png|jpeg|gif|webp)$")


class Params(OperationParams):
    """The question, who answers it, and where it belongs."""

    text: str = Field(min_length=1, max_length=1_000_000)
    chat: str | None = None
    """A chat to go on with; a new one when left out."""
    model: str | None = None
    """As the settings say when it is left out; in a chat that goes on, as before."""
    mode: Mode | None = None
    project: str = ""
    images: tuple[Picture, ...] = Field(default=(), max_length=MOST_PICTURES)
    pinned: tuple[str, ...] | None = None
    """Tools that this chat always offers; as before when left out."""
    banned: tuple[str, ...] | None = None


def needs(params: Params, configured: Configured) -> Needs:
    """A host that goes on running."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> TurnStarted:
    """`{chat, turn}`, as soon as it has begun; `/api/live` tells the rest."""
    images = [attached_picture(one.data, one.mime) for one in params.images]
    chat = await host.chats.load(params.chat) if params.chat else None
    agent = await agent_for(host, chat, model=params.model, mode=params.mode, project=params.project)
    if params.images and not (await agent.model.traits()).images:
        raise UsageError(
            f"{agent.model.name} cannot see pictures.", hint="Send without it, or choose another model."
        )
    await settled(host)
    if chat is not None and (params.pinned is not None or params.banned is not None):
        chat.info = await host.chats.choose_tools(chat.id, pinned=params.pinned, banned=params.banned)
    pinned, banned = params.pinned or (), params.banned or ()
    turn = await start_turn(host, agent, chat, params.text, images, pinned=pinned, banned=banned)
    return {"chat": turn.chat, "turn": turn.id}
