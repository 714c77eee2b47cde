"""FastMCP's search transform, the package itself."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.retrieval.contract import DEPTH, Search, prefixed
from toolcrib.schema.tools import Tool

NAME = "FastMCP search transform"


async def prepare(tools: Sequence[Tool]) -> Search:
    """Tools under the names that a mounted server gives them."""
    from fastmcp.server.transforms.search import BM25SearchTransform
    from fastmcp.tools.base import Tool as Theirs

    ours = {f"{prefixed(tool)}_{number}": tool.name for number, tool in enumerate(tools)}
    theirs = [
        Theirs(
            name=name,
            description=tool.definition.description,
            parameters=dict(tool.definition.input_schema),
        )
        for name, tool in zip(ours, tools, strict=True)
    ]
    transform = BM25SearchTransform(max_results=DEPTH)

    async def search(question: str) -> list[str]:
        return [ours[found.name] for found in await transform._search(theirs, question)]

    return search
