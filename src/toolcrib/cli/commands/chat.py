"""`toolcrib chat`: a talk with a model that has the tools at hand."""

from __future__ import annotations

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import declare
from toolcrib.cli.output import note, say
from toolcrib.cli.surface import Surface
from toolcrib.cli.tables import show_table
from toolcrib.errors import UsageError


@declare("Models")
@click.option(
    "--model",
    "-m",
    metavar="VENDOR:MODEL",
    shell_complete=completion.models,
    help="Who answers; demo needs no account.",
)
@click.option("--continue", "-c", "last", is_flag=True, help="Go on with the latest chat.")
@click.option("--chat", metavar="ID", help="Go on with this chat.")
@click.option("--fork", metavar="ID", help="Go on in a copy of this chat.")
@click.option("--list", "listed", is_flag=True, help="List the chats there are, and do no more.")
@click.option("--export", metavar="ID", help="Print this chat as Markdown, or as JSON with --json.")
async def command(
    surface: Surface,
    model: str | None,
    last: bool,
    chat: str | None,
    fork: str | None,
    listed: bool,
    export: str | None,
) -> None:
    """Talk with a model that has the tools at hand.

    Answers stream in as they come, with a card for each tool that is called. Esc stops an answer; the chat
    can go on. /help lists what else can be done.
    """
    if listed:
        await _list(surface)
        return
    if export is not None:
        await _export(surface, export)
        return
    if surface.json:
        raise UsageError("A talk has no JSON.", hint='For one answer as JSON: toolcrib ask --json "…"')
    if fork is not None:
        async with surface.reach() as crib:
            chat = (await crib.run("chat_fork", {"chat": fork}))["id"]
    await _talk(surface, model, "last" if last and chat is None else chat)


async def _talk(surface: Surface, model: str | None, chat: str | None) -> None:
    from toolcrib.cli.chat_loop import Talk, note_unfinished

    async with surface.reach() as crib:
        if chat is not None:
            found = await crib.run("chat_show", {"chat": chat})
            chat, model = found["id"], model or found["model"]
            note(f"Going on with: {found['title']}")
            note_unfinished(found)
        elif model is None:
            model = (await crib.run("models"))["model"]
    await Talk(surface, model, chat).run()


async def _list(surface: Surface) -> None:
    async with surface.reach() as crib:
        found = await crib.run("chat_list")
    if surface.answer(found):
        return
    if not found:
        note("No chats yet. Begin one with: toolcrib chat")
        return
    rows = [
        [one["id"], one["updated"][:16].replace("T", " "), one["model"], one["state"], one["title"]]
        for one in found
    ]
    show_table(["ID", "UPDATED", "MODEL", "STATE", "TITLE"], rows)


async def _export(surface: Surface, chat: str) -> None:
    from toolcrib.agent.export import as_markdown

    async with surface.reach() as crib:
        found = await crib.run("chat_show", {"chat": chat})
    if not surface.answer(found):
        say(as_markdown(found))
