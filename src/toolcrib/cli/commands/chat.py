"""`toolcrib chat`: the options of the command, the list of chats, and the export of one. The conversation
itself is in `cli/chat_loop.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from toolcrib.cli.declare import declare, effort_option, model_option
from toolcrib.cli.output import note, say, show_table
from toolcrib.cli.surface import Surface
from toolcrib.errors import UsageError

if TYPE_CHECKING:
    from toolcrib.config.settings import Effort


@declare("Models")
@model_option
@effort_option
@click.option("--continue", "-c", "last", is_flag=True, help="Continue the latest chat.")
@click.option("--chat", metavar="ID", help="Continue this chat.")
@click.option("--fork", metavar="ID", help="Continue in a copy of this chat.")
@click.option("--list", "listed", is_flag=True, help="List the chats and exit.")
@click.option("--export", metavar="ID", help="Print this chat as Markdown, or as JSON with --json.")
async def command(
    surface: Surface,
    model: str | None,
    effort: Effort | None,
    last: bool,
    chat: str | None,
    fork: str | None,
    listed: bool,
    export: str | None,
) -> None:
    """Chat with a model that can call the tools.

    Answers are streamed, with a card for each tool call. Esc stops an answer, not the chat. /help lists the
    other commands.
    """
    if listed:
        await _list(surface)
        return
    if export is not None:
        await _export(surface, export)
        return
    if surface.json:
        raise UsageError("A chat has no JSON output.", hint='For one answer as JSON: toolcrib ask --json "…"')
    if fork is not None:
        async with surface.reach() as client:
            chat = (await client.chat_fork(chat=fork))["id"]
    await _chat(surface, model, effort, "last" if last and chat is None else chat)


async def _chat(surface: Surface, model: str | None, effort: Effort | None, chat: str | None) -> None:
    from toolcrib.cli.chat_loop import ChatLoop, note_unfinished

    async with surface.reach() as client:
        if chat is not None:
            found = await client.chat_show(chat=chat)
            chat, model = found["id"], model or found["model"]
            note(f"Continuing: {found['title']}")
            note_unfinished(found)
        elif model is None:
            model = (await client.models())["model"]
    await ChatLoop(surface, model, chat, effort).run()


async def _list(surface: Surface) -> None:
    async with surface.reach() as client:
        found = await client.chat_list()
    if surface.answer(found):
        return
    if not found:
        note("No chats yet. Start one with: toolcrib chat")
        return
    rows = [
        [chat["id"], chat["updated"][:16].replace("T", " "), chat["model"], chat["state"], chat["title"]]
        for chat in found
    ]
    show_table(["ID", "UPDATED", "MODEL", "STATE", "TITLE"], rows)


async def _export(surface: Surface, chat: str) -> None:
    from toolcrib.agent.export import as_markdown

    async with surface.reach() as client:
        found = await client.chat_show(chat=chat)
    if not surface.answer(found):
        say(as_markdown(found))
