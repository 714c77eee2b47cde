"""Picks the few tools that a question needs out of thousands, and says why.

A surface that asks more than once keeps a `Finder` and lets it `follow` the registry; `select` does both at
once, for one question and by words alone, and `find` for one question with an embedder. Descriptions are data
here: whatever they say, they are only counted and compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.retrieval.embedding import Embedder, open_embedder
from toolcrib.retrieval.finder import Finder
from toolcrib.retrieval.following import follow
from toolcrib.retrieval.index import Index
from toolcrib.retrieval.meaning import Meaning
from toolcrib.retrieval.selection import Pick, Reason, Selection
from toolcrib.schema.tools import Tool

__all__ = [
    "Embedder",
    "Finder",
    "Index",
    "Meaning",
    "Pick",
    "Reason",
    "Selection",
    "find",
    "follow",
    "open_embedder",
    "select",
]


def select(
    question: str,
    tools: Sequence[Tool],
    k: int = 5,
    *,
    always_on: Sequence[str] = (),
    recent: Sequence[str] = (),
    context: Sequence[str] = (),
) -> Selection:
    """The tools for a question by their words alone, at once; see `Index.select`."""
    return Index(tools).select(question, k, always_on=always_on, recent=recent, context=context)


async def find(
    question: str,
    tools: Sequence[Tool],
    k: int = 5,
    *,
    embedder: Embedder | None,
    always_on: Sequence[str] = (),
    recent: Sequence[str] = (),
    context: Sequence[str] = (),
) -> Selection:
    """The tools for a question by words and meaning; waits until the vectors of all tools are made."""
    meaning = Meaning(embedder)
    try:
        finder = Finder(meaning)
        await finder.follow(lambda: tools)
        await finder.settle()
        return await finder.select(question, k, always_on=always_on, recent=recent, context=context)
    finally:
        await meaning.close()
