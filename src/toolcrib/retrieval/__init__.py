"""Selects the few tools that a question needs out of thousands, with reasons.

For repeated questions, keep a `Finder` that follows the registry; `select` answers a single one, and
`select_by_words` needs no model. Descriptions are data: they are only counted and compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.retrieval.embedder import Embedder, EmbedderChoice, open_embedder
from toolcrib.retrieval.embedding_service import EmbeddingService
from toolcrib.retrieval.finder import Finder
from toolcrib.retrieval.index import Index, follow
from toolcrib.retrieval.selection import Pick, Selection
from toolcrib.schema.tools import Reason, Tool

__all__ = [
    "Embedder",
    "EmbeddingService",
    "Finder",
    "Index",
    "Pick",
    "Reason",
    "Selection",
    "follow",
    "open_embedder",
    "select",
    "select_by_words",
]

BUILT_IN = EmbedderChoice()


def select_by_words(
    question: str,
    tools: Sequence[Tool],
    k: int = 5,
    *,
    always_on: Sequence[str] = (),
    recent: Sequence[str] = (),
    context: Sequence[str] = (),
) -> Selection:
    """The tools for a question by words alone; see `Index.select`."""
    return Index(tools).select(question, k, always_on=always_on, recent=recent, context=context)


async def select(
    question: str,
    tools: Sequence[Tool],
    k: int = 5,
    *,
    embedder: Embedder | EmbedderChoice | None = BUILT_IN,
    always_on: Sequence[str] = (),
    recent: Sequence[str] = (),
    context: Sequence[str] = (),
) -> Selection:
    """The tools for a question by words and meaning; waits until all tools have vectors.

    The built-in embedder is the default; without any, only words count.
    """
    meaning = EmbeddingService(open_embedder(embedder) if isinstance(embedder, EmbedderChoice) else embedder)
    try:
        finder = Finder(meaning)
        await finder.follow(lambda: tools)
        await finder.settle()
        return await finder.select(question, k, always_on=always_on, recent=recent, context=context)
    finally:
        await meaning.close()
