"""`chat_export`: a chat as a file to keep or to hand on, as Markdown or JSON."""

from __future__ import annotations

import json
import re
from typing import Literal

from toolcrib.agent.export import as_markdown, chat_json
from toolcrib.control.answers.chats import ChatExport
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.host import Host

FOR_PAGES = True

_LONGEST_NAME = 60


class Params(OperationParams):
    """Which chat, and in which form."""

    chat: str
    form: Literal["markdown", "json"] = "markdown"


def needs(params: Params, configured: Configured) -> Needs:
    """No server."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ChatExport:
    """`{name, mime, text}`; raises `NotFound`."""
    chat = await host.chats.load(params.chat)
    name = re.sub(r"[^\w-]+", "-", chat.info.title).strip("-")[:_LONGEST_NAME] or chat.id
    if params.form == "json":
        text = json.dumps(chat_json(chat), ensure_ascii=False, indent=2)
        return {"name": f"{name}.json", "mime": "application/json", "text": text}
    return {"name": f"{name}.md", "mime": "text/markdown", "text": as_markdown(chat)}
