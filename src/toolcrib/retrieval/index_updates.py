"""Brings an index up to date without keeping anybody waiting: thousands of new tools are read in portions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from toolcrib.retrieval.index import Index
from toolcrib.schema.tools import Tool

AT_ONCE = 100
"""Definitions read before others get their turn: some fifteen milliseconds."""


async def follow(index: Index, tools: Callable[[], Iterable[Tool]]) -> None:
    """Make the index hold what `tools` returns; it is asked again after each portion."""
    while True:
        if index.update(tools(), at_most=AT_ONCE):
            return
        await asyncio.sleep(0)
