"""A regular expression over names and descriptions, as a model would write it from the question's words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchmarks.retrieval.contract import DEPTH, Search, words_of
from toolcrib.schema.tools import Tool

NAME = "regex (Anthropic-style)"
_SAY_NOTHING = {
    "the",
    "and",
    "for",
    "with",
    "from",
    "this",
    "that",
    "all",
    "our",
    "you",
    "what",
    "which",
    "how",
}


async def prepare(tools: Sequence[Tool]) -> Search:
    """Keep the texts."""
    texts = [(tool.name, words_of(tool).lower()) for tool in tools]

    async def search(question: str) -> list[str]:
        words = [word for word in re.findall(r"[a-z0-9]{3,}", question.lower()) if word not in _SAY_NOTHING]
        if not words:
            return []
        pattern = re.compile("|".join(map(re.escape, words)))
        return [name for name, text in texts if pattern.search(text)][:DEPTH]

    return search
