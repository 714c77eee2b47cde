"""Runs one turn: sends the question, shows the answer as it comes, and asks the user what it asks."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib.cli.consent import consent
from toolcrib.cli.keyboard import Keyboard
from toolcrib.cli.surface import Surface
from toolcrib.cli.turn_view import TurnView
from toolcrib.errors import NotFound
from toolcrib.llm.models import variables
from toolcrib.operations.client import Client

if TYPE_CHECKING:
    from toolcrib.operations.client import Answered


async def run_turn(
    surface: Surface,
    client: Client,
    request: partial[Coroutine[Any, Any, Answered]],
    view: TurnView,
    keys: Keyboard | None,
    *,
    on_chat: Callable[[str], None] = lambda chat: None,
) -> Answered:
    """The answer; `request` is `client.ask` with its arguments. Cancelling it stops the turn."""
    replies: set[asyncio.Task[None]] = set()
    one_at_a_time = asyncio.Lock()
    held: list[Mapping[str, Any]] = []
    """Events that came while a question is open: shown afterwards, so that nothing is drawn over it."""

    def on_event(event: Mapping[str, Any]) -> None:
        if event["event"] == "began":
            on_chat(event["chat"])
        if event["event"] != "asking":
            held.append(event)
            show_held()
        elif keys is not None:
            view.pause()
            task = asyncio.create_task(answer(event, keys))
            replies.add(task)
            task.add_done_callback(answered)

    def answered(task: asyncio.Task[None]) -> None:
        replies.discard(task)
        if not task.cancelled():
            task.exception()  # If the host is gone, the turn itself fails and is reported.
        show_held()

    def show_held() -> None:
        while held and not replies:
            view.show(held.pop(0))

    async def answer(event: Mapping[str, Any], keys: Keyboard) -> None:
        async with one_at_a_time:
            await _reply(surface, client, event, keys)

    with view:
        try:
            result = await request(
                person=keys is not None, project=str(Path.cwd()), environ=_keys(client), on_event=on_event
            )
        finally:
            open_questions = list(replies)
            for task in open_questions:
                task.cancel()
            await asyncio.gather(*open_questions, return_exceptions=True)
            replies.clear()
            show_held()
        view.end(result)
    return result


def _keys(client: Client) -> dict[str, str]:
    """API keys of this environment, for a running host, which has another one."""
    if not client.running:
        return {}
    return {name: os.environ[name] for name in variables() if os.environ.get(name)}


async def _reply(surface: Surface, client: Client, event: Mapping[str, Any], keys: Keyboard) -> None:
    reply = await consent(event, keys)
    with contextlib.suppress(NotFound):  # It was answered elsewhere, or withdrawn.
        if not client.running:
            await client.chat_reply(id=event["id"], **reply)
            return
        # The turn occupies its connection.
        async with surface.reach() as other:
            await other.chat_reply(id=event["id"], **reply)
