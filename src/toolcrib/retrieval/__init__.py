"""Picks the few tools that a question needs out of thousands, and says why.

A surface that asks more than once keeps an `Index` and lets it `follow` the registry; `select` does both
at once, for one question. Descriptions are data here: whatever they say, they are only counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.retrieval.following import follow
from toolcrib.retrieval.index import Index
from toolcrib.retrieval.selection import Pick, Reason, Selection
from toolcrib.schema.tools import Tool

__all__ = ["Index", "Pick", "Reason", "Selection", "follow", "select"]


def select(
    question: str,
    tools: Sequence[Tool],
    k: int = 5,
    *,
    always_on: Sequence[str] = (),
    recent: Sequence[str] = (),
    context: Sequence[str] = (),
) -> Selection:
    """The tools for a question; see `Index.select`."""
    return Index(tools).select(question, k, always_on=always_on, recent=recent, context=context)
