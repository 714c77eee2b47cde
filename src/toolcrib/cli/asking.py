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
from toolcrib.llm.opening import variables

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

    def on_event(event: Mapping[str, Any]) -> None:
        if event["event"] == "began":
            on_chat(event["chat"])
        if event["event"] != "asking":
            view.show(event)
            return
        if keys is not None:
            replies.add(asyncio.create_task(answer(event, keys)))

    async def answer(event: Mapping[str, Any], keys: Keyboard) -> None:
        async with one_at_a_time:
            view.pause()
            await _reply(surface, crib, event, keys)

    with view:
        try:
            asked = {**params, "person": keys is not None, "project": str(Path.cwd())}
            if crib.running:
                asked["environ"] = {name: os.environ[name] for name in variables() if os.environ.get(name)}
            result: dict[str, Any] = await crib.run("ask", asked, on_event=on_event)
        finally:
            for task in replies:
                task.cancel()
            await asyncio.gather(*replies, return_exceptions=True)
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
