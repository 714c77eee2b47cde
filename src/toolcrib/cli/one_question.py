"""Asks one question of a crib and shows what happens; a person who is there is asked in turn."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from toolcrib.cli.consent import consent
from toolcrib.cli.keyboard import Keyboard
from toolcrib.cli.surface import Surface
from toolcrib.cli.turn_view import TurnView
from toolcrib.control.needs import Crib
from toolcrib.errors import NotFound
from toolcrib.llm.models import variables

Params = dict[str, Any]


async def ask_crib(
    surface: Surface,
    crib: Crib,
    params: Params,
    view: TurnView,
    keys: Keyboard | None,
    *,
    on_chat: Callable[[str], None] = lambda chat: None,
) -> dict[str, Any]:
    """The answer as JSON; raises `ToolcribError`. Cancelling it stops the turn."""
    replies: set[asyncio.Task[None]] = set()
    one_at_a_time = asyncio.Lock()
    held: list[Mapping[str, Any]] = []
    """What happened while a question is open: shown afterwards, so that nothing is drawn over it."""

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
            task.exception()  # A host that is gone is told of by the turn itself.
        show_held()

    def show_held() -> None:
        while held and not replies:
            view.show(held.pop(0))

    async def answer(event: Mapping[str, Any], keys: Keyboard) -> None:
        async with one_at_a_time:
            await _reply(surface, crib, event, keys)

    with view:
        try:
            asked = {**params, "person": keys is not None, "project": str(Path.cwd())}
            if crib.running:
                asked["environ"] = {name: os.environ[name] for name in variables() if os.environ.get(name)}
            result: dict[str, Any] = await crib.run("ask", asked, on_event=on_event)
        finally:
            open_questions = list(replies)
            for task in open_questions:
                task.cancel()
            await asyncio.gather(*open_questions, return_exceptions=True)
            replies.clear()
            show_held()
        view.end(result)
    return result


async def _reply(surface: Surface, crib: Crib, event: Mapping[str, Any], keys: Keyboard) -> None:
    reply = {"id": event["id"], **await consent(event, keys)}
    with contextlib.suppress(NotFound):  # It was answered elsewhere, or given up.
        if not crib.running:
            await crib.run("chat_reply", reply)
            return
        # The connection of the turn is busy with it.
        async with surface.reach() as other:
            await other.run("chat_reply", reply)
