"""`toolcrib tools eval`: measure how well tools are found for labelled questions, and print the shares and
the time per question."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolcrib.cli.declare import Seconds, declare
from toolcrib.cli.output import show_table
from toolcrib.cli.surface import Surface

if TYPE_CHECKING:
    from toolcrib.operations.results.tools import Evaluation

_FILE = click.Path(exists=True, dir_okay=False, resolve_path=True, path_type=Path)


@declare()
@click.argument("queries", type=_FILE)
@click.option("--tools", type=_FILE, help="Use the tools of this file instead of the configured ones.")
@click.option("--wait", type=Seconds(0, 3600), default=20.0, help="Seconds to wait for servers to start.")
async def command(surface: Surface, queries: Path, tools: Path | None, wait: float) -> None:
    """Measure how often the right tools are found first, for the labelled questions in QUERIES.

    Each line of the file is a question: {"query": "open an issue", "relevant": ["github__create_issue"]},
    with `acceptable` for other correct tools. Each line of --tools is a tool: id, name, description,
    inputSchema, server. Both files may be gzipped.
    """
    async with surface.reach() as client:
        found = await client.evaluate(
            queries=str(queries), tools=None if tools is None else str(tools), wait=wait
        )
        if not surface.answer(found):
            _show(found)


def _show(found: Evaluation) -> None:
    rows = [
        ["right tool first", _percent(found["recall_at_1"])],
        ["right tools in the first five", _percent(found["recall_at_5"])],
        ["right tools in the first ten", _percent(found["recall_at_10"])],
        ["ranking quality (nDCG@10)", _percent(found["ndcg_at_10"])],
        ["questions", str(found["n"])],
        ["milliseconds per question", f"{found['ms_per_query']:.1f}"],
    ]
    show_table(["MEASURE", "VALUE"], rows, right=(1,))


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
