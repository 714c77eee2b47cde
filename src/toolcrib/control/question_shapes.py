"""A question about a call as a person is shown it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from toolcrib.control.answers.chats import CallQuestion
from toolcrib.host import Host
from toolcrib.host.approvals import is_ours
from toolcrib.host.chat_questions import QuestionWords


async def shown_question(host: Host, detail: Mapping[str, Any]) -> CallQuestion:
    """The gate's question with its title, the call itself, and the words of every rule."""
    words = QuestionWords(
        host.registry.snapshot.get,
        lambda tool: is_ours(tool, host.config, host.workspace_tools),
        host.workspace_tools.holds,
    )
    shown = detail if "exhibit" in detail else await words.described(detail)
    kept = CallQuestion.__annotations__
    return cast("CallQuestion", {key: value for key, value in shown.items() if key in kept})
