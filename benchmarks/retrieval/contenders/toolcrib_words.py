"""Ours without an embedder: BM25 over weighted fields, with clauses."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.retrieval.contract import DEPTH, Search
from toolcrib.retrieval import Index
from toolcrib.schema.tools import Tool

NAME = "toolcrib, words alone"


async def prepare(tools: Sequence[Tool]) -> Search:
    """Index the words."""
    index = Index(tools)

    async def search(question: str) -> list[str]:
        return [pick.tool.name for pick in index.select(question, DEPTH)]

    return search
