"""Picks the few tools that a question needs out of thousands, and says why.

A surface that asks more than once keeps a `Finder` and lets it `follow` the registry; `select` does both at
once, for one question, and `select_by_words` without any model. Descriptions are data here: whatever they
say, they are only counted and compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.retrieval.embedding import Chosen, Embedder, open_embedder
from toolcrib.retrieval.finder import Finder
from toolcrib.retrieval.index import Index
from toolcrib.retrieval.index_updates import follow
from toolcrib.retrieval.selection import Pick, Reason, Selection
from toolcrib.retrieval.vector_index import Meaning
from toolcrib.schema.tools import Tool

__all__ = [
    "Embedder",
    "Finder",
    "Index",
    "Meaning",
    "Pick",
    "Reason",
    "Selection",
    "follow",
    "open_embedder",
    "select",
    "select_by_words",
]

BUILT_IN = Chosen()


def select_by_words(
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


async def select(
    question: str,
    tools: Sequence[Tool],
    k: int = 5,
    *,
    embedder: Embedder | Chosen | None = BUILT_IN,
    always_on: Sequence[str] = (),
    recent: Sequence[str] = (),
    context: Sequence[str] = (),
) -> Selection:
    """The tools for a question by words and meaning; waits until the vectors of all tools are made.

    The embedder is the built-in one unless another is given; without any, words decide alone.
    """
    meaning = Meaning(open_embedder(embedder) if isinstance(embedder, Chosen) else embedder)
    try:
        finder = Finder(meaning)
        await finder.follow(lambda: tools)
        await finder.settle()
        return await finder.select(question, k, always_on=always_on, recent=recent, context=context)
    finally:
        await meaning.close()
