"""`toolcrib tools search`: find the tools for a question; prints their scores and, with `--explain`, the
words that matched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli.commands.tools import first_line
from toolcrib.cli.declare import declare, wait_option
from toolcrib.cli.output import note, show_table
from toolcrib.cli.surface import Surface

if TYPE_CHECKING:
    from toolcrib.operations.client import ToolMatch, ToolSearch


@declare()
@click.argument("question", nargs=-1, required=True)
@click.option("-k", "count", type=click.IntRange(1, 1000), help="Number of tools; default 5, or as set.")
@click.option("--explain", is_flag=True, help="Show which words matched where.")
@wait_option
async def command(
    surface: Surface, question: tuple[str, ...], count: int | None, explain: bool, wait: float | None
) -> None:
    """Find the tools that match QUESTION best, best first.

    Scores are only comparable within one search.
    """
    async with surface.reach() as client:
        seconds = surface.start_wait(wait, client)
        found = await client.search(query=" ".join(question), k=count, wait=seconds)
        if surface.answer(found if explain else _brief(found)):
            return
        _show(found, explain)


def _brief(found: ToolSearch) -> dict[str, Any]:
    tools = [{key: value for key, value in tool.items() if key != "reasons"} for tool in found["tools"]]
    return {**found, "tools": tools}


def _show(found: ToolSearch, explain: bool) -> None:
    if found["note"]:
        note(found["note"])
    if not found["tools"]:
        note(f"None of {found['searched']} tools matches the question. Try other words.")
        return
    last = "REASONS" if explain else "DESCRIPTION"
    rows = [_row(tool, explain) for tool in found["tools"]]
    show_table(["NAME", "SCORE", last], rows, right=(1,), colour=_colour)


def _row(tool: ToolMatch, explain: bool) -> list[str]:
    text = _reasons(tool) if explain else first_line(tool["description"])
    score = "always on" if tool["kind"] == "always on" else f"{tool['score']:.1f}"
    return [tool["name"], score, text]


def _reasons(tool: ToolMatch) -> str:
    return "; ".join(
        f"{reason['field']}: {', '.join(reason['terms'])} ({reason['score']:.1f})"
        for reason in tool["reasons"]
    )


def _colour(column: int, text: str) -> str:
    return "cyan" if column == 0 else ""
