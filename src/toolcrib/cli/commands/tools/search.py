"""`toolcrib tools search`: the few tools that a question needs."""

from __future__ import annotations

from typing import Any

import click

from toolcrib.cli.declare import Seconds, declare
from toolcrib.cli.output import note
from toolcrib.cli.surface import Surface
from toolcrib.cli.tables import show_table

WAIT = 20.0
BRIEF = 2.0


@declare()
@click.argument("question", nargs=-1, required=True)
@click.option("-k", "count", type=click.IntRange(1, 1000), help="How many; 5 unless the settings differ.")
@click.option("--explain", is_flag=True, help="Say which words were found where.")
@click.option("--wait", type=Seconds(0, 3600), help="Wait so many seconds for servers to start.")
async def command(
    surface: Surface, question: tuple[str, ...], count: int | None, explain: bool, wait: float | None
) -> None:
    """Find the tools that fit QUESTION best, the best first.

    SCORE tells how well a tool fits; it can be compared within one answer only.
    """
    async with surface.reach() as crib:
        patience = wait if wait is not None else (BRIEF if crib.running else WAIT)
        params = {"query": " ".join(question), "k": count, "wait": patience}
        found = await crib.run("search", params)
        if surface.answer(found if explain else _brief(found)):
            return
        _show(found, explain)


def _brief(found: dict[str, Any]) -> dict[str, Any]:
    tools = [{key: value for key, value in tool.items() if key != "reasons"} for tool in found["tools"]]
    return {**found, "tools": tools}


def _show(found: dict[str, Any], explain: bool) -> None:
    if found["note"]:
        note(found["note"])
    if not found["tools"]:
        note(f"None of {found['searched']} tools has a word of the question. Try other words.")
        return
    last = "REASONS" if explain else "DESCRIPTION"
    rows = [_row(tool, explain) for tool in found["tools"]]
    show_table(["NAME", "SCORE", last], rows, right=(1,), colour=_colour)


def _row(tool: dict[str, Any], explain: bool) -> list[str]:
    told = _reasons(tool) if explain else _first_line(tool["description"])
    score = "always on" if tool["kind"] == "always on" else f"{tool['score']:.1f}"
    return [tool["name"], score, told]


def _reasons(tool: dict[str, Any]) -> str:
    return "; ".join(
        f"{reason['field']}: {', '.join(reason['terms'])} ({reason['score']:.1f})"
        for reason in tool["reasons"]
    )


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")


def _colour(column: int, text: str) -> str:
    return "cyan" if column == 0 else ""
