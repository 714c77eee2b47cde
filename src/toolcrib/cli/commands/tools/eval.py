"""`toolcrib tools eval`: how well the right tools are found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolcrib.cli.declare import Seconds, declare
from toolcrib.cli.surface import Surface
from toolcrib.cli.tables import show_table

_FILE = click.Path(exists=True, dir_okay=False, resolve_path=True, path_type=Path)
_TOLD = {
    "recall_at_1": "right at the first place",
    "recall_at_5": "right among the first five",
    "recall_at_10": "right among the first ten",
    "ndcg_at_10": "how early, against the best order (nDCG@10)",
}


@declare()
@click.argument("queries", type=_FILE)
@click.option("--tools", type=_FILE, help="Score over the tools of this file instead of the crib's.")
@click.option("--wait", type=Seconds(0, 3600), default=20.0, help="Seconds for servers that start.")
async def command(surface: Surface, queries: Path, tools: Path | None, wait: float) -> None:
    """Score the labelled questions of QUERIES: how often are the right tools among the first?

    A line of the file is one question: {"query": "open an issue", "relevant": ["github__create_issue"]}, with
    `acceptable` for tools that are right too. A line of --tools is one tool: id, name, description,
    inputSchema, server. Both may be gzipped.
    """
    async with surface.reach() as crib:
        params: dict[str, Any] = {"queries": str(queries), "wait": wait}
        if tools is not None:
            params["tools"] = str(tools)
        found = await crib.run("evaluate", params)
        if not surface.answer(found):
            _show(found)


def _show(found: dict[str, Any]) -> None:
    rows = [[told, f"{100 * found[key]:.1f} %"] for key, told in _TOLD.items()]
    rows.append(["questions", str(found["n"])])
    rows.append(["milliseconds a question", f"{found['ms_per_query']:.1f}"])
    show_table(["WHAT", "VALUE"], rows, right=(1,))
