"""Plain BM25 over name, description and parameters."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from benchmarks.retrieval.contract import DEPTH, Search, words_of
from toolcrib.schema.tools import Tool

NAME = "BM25, plain"
K1, B = 1.5, 0.75


async def prepare(tools: Sequence[Tool]) -> Search:
    """Count the words."""
    counts = [Counter(_words(words_of(tool))) for tool in tools]
    lengths = [sum(count.values()) for count in counts]
    usual = sum(lengths) / max(len(lengths), 1)
    holders: dict[str, list[int]] = {}
    for number, count in enumerate(counts):
        for word in count:
            holders.setdefault(word, []).append(number)

    async def search(question: str) -> list[str]:
        scores: dict[int, float] = {}
        for word in _words(question):
            found = holders.get(word, ())
            rarity = math.log(1 + (len(tools) - len(found) + 0.5) / (len(found) + 0.5))
            for number in found:
                often = counts[number][word]
                weight = often * (K1 + 1) / (often + K1 * (1 - B + B * lengths[number] / usual))
                scores[number] = scores.get(number, 0.0) + rarity * weight
        return [tools[n].name for n in sorted(scores, key=lambda n: -scores[n])[:DEPTH]]

    return search


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]{2,}", text.lower())
