"""`toolcrib call`: run one tool."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from toolcrib.cli import completion
from toolcrib.cli.call_arguments import read_arguments, read_words
from toolcrib.cli.content import show_result
from toolcrib.cli.declare import Command, Seconds, declare
from toolcrib.cli.output import note
from toolcrib.cli.surface import Surface
from toolcrib.errors import UnknownTool

TOOL_FAILED = 6


class CallCommand(Command):
    """Says how arguments are written."""

    def advise(self, option: str, args: list[str]) -> str:
        """An unknown option is most likely meant for the tool."""
        return f"Arguments of the tool are written {option.lstrip('-') or 'key'}=VALUE, without dashes."


@declare("Tools", cls=CallCommand)
@click.argument("tool", shell_complete=completion.tools)
@click.argument("words", nargs=-1, metavar="[KEY=VALUE]...", shell_complete=completion.arguments)
@click.option("--args", "document", metavar="JSON", help="The arguments as a JSON object; - reads stdin.")
@click.option("--timeout", type=Seconds(0.001, 86_400), help="Seconds the call may take.")
@click.option(
    "--save",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write images, audio and files of the result into this folder.",
)
async def command(
    surface: Surface,
    tool: str,
    words: tuple[str, ...],
    document: str | None,
    timeout: float | None,
    save: Path | None,
) -> int:
    """Call TOOL and print what it answers.

    Values are typed by the tool's schema: numbers, true and false, arrays and objects as JSON; a string
    stays a string. KEY=@FILE takes the text of a file, KEY:=JSON takes JSON as it is, and a KEY that is
    given several times makes a list.
    """
    params: dict[str, Any] = {
        "tool": tool,
        "words": read_words(words),
        "arguments": read_arguments(document),
        "timeout": timeout,
    }
    async with surface.reach() as crib:
        try:
            result = await crib.run("call", params, on_event=_show_progress)
        except UnknownTool as error:
            raise error if crib.running else _unknown(surface, tool, error) from None
        if not surface.answer(result):
            show_result(result, tool, save)
    return TOOL_FAILED if result.get("isError") else 0


def _unknown(surface: Surface, tool: str, error: UnknownTool) -> UnknownTool:
    """Without a host, only servers that the name points at were started; the others' tools are on record."""
    from toolcrib.suggestions import did_you_mean

    known = completion.tool_names(surface.home)
    same = [name for name in known if name.endswith(f"__{tool}")]
    if same:
        return UnknownTool(error.message, hint=f"Did you mean {' or '.join(same[:3])}?")
    return UnknownTool(error.message, hint=did_you_mean(tool, known, otherwise="List them: toolcrib tools"))


def _show_progress(event: dict[str, Any]) -> None:
    if not sys.stderr.isatty():
        return
    total = f" of {event['total']:g}" if event["total"] else ""
    note(f"… {event['progress']:g}{total} {event['message'] or ''}".rstrip())
