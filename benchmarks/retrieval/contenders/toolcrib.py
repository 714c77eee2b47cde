"""Ours: words, meaning, clauses and the fitted order."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.retrieval.contract import DEPTH, Search
from toolcrib.retrieval import EmbeddingService, Finder, open_embedder
from toolcrib.retrieval.embedder import EmbedderChoice
from toolcrib.schema.tools import Tool

NAME = "toolcrib"


async def prepare(tools: Sequence[Tool]) -> Search:
    """Wait for all vectors."""
    finder = Finder(EmbeddingService(open_embedder(EmbedderChoice())))
    await finder.follow(lambda: tools)
    await finder.settle()

    async def search(question: str) -> list[str]:
        return [pick.tool.name for pick in await finder.select(question, DEPTH)]

    return search
