"""`call_again`: run a tool in a chat by hand, as the chat's own calls run: under the gate, and kept."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pydantic import Field

from toolcrib.control.answers.chats import TurnStarted
from toolcrib.control.chat_starting import agent_for
from toolcrib.control.chat_turns import whole_call
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.control.operations.chat_view import row_of
from toolcrib.control.shapes import moment
from toolcrib.host import Host
from toolcrib.schema.approvals import Mode

FOR_PAGES = True


class Params(OperationParams):
    """Which call of which chat, or a tool and its arguments."""

    chat: str
    call: str | None = None
    """A call that has answered: the same tool with the same arguments again."""
    tool: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict)
    mode: Mode | None = None


def needs(params: Params, configured: Configured) -> Needs:
    """A host that goes on running."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> TurnStarted:
    """`{chat, turn}`; raises `NotFound`, and `UsageError` while a turn of the chat runs."""
    chat = await host.chats.load(params.chat)
    tool, arguments = params.tool, params.arguments
    if params.call is not None:
        rows = [row_of(row) for row in await host.chat_rows.read(chat.id)]
        before = whole_call(rows, params.call)
        tool, arguments = before["tool"], before["arguments"]
    agent = await agent_for(host, chat, mode=params.mode)
    turn = await host.turns.call(agent, chat, tool, arguments)
    now = moment(datetime.now(UTC))
    first: dict[str, Any] = {"event": "question", "text": None, "images": [], "pictures": 0, "time": now}
    host.chat_news.follow(turn, first)
    return {"chat": turn.chat, "turn": turn.id}
