"""Which documents hold which word, and how much it counts there; documents come and go one by one."""

from __future__ import annotations

import math
from collections.abc import Mapping


class Postings:
    """An inverted index. What a word is worth is computed when it is asked for, so nothing goes stale."""

    def __init__(self) -> None:
        self._documents: dict[str, tuple[str, ...]] = {}
        self._terms: dict[str, dict[str, float]] = {}

    def __len__(self) -> int:
        return len(self._documents)

    def put(self, document: str, weights: Mapping[str, float]) -> None:
        """Add a document, in place of the one that had its key."""
        self.drop(document)
        self._documents[document] = tuple(weights)
        for term, weight in weights.items():
            self._terms.setdefault(term, {})[document] = weight

    def drop(self, document: str) -> None:
        """Forget a document, if it is there."""
        for term in self._documents.pop(document, ()):
            holders = self._terms[term]
            del holders[document]
            if not holders:
                del self._terms[term]

    def rarity(self, term: str) -> float:
        """BM25's inverse document frequency; 0 for a word that nobody has."""
        holders = len(self._terms.get(term, ()))
        if not holders:
            return 0.0
        return math.log(1 + (len(self._documents) - holders + 0.5) / (holders + 0.5))

    def score(self, terms: Mapping[str, float]) -> dict[str, float]:
        """Every document with one of these words, and how well it fits them all; each word has a weight."""
        scores: dict[str, float] = {}
        for term, importance in terms.items():
            holders = self._terms.get(term)
            if holders is None:
                continue
            factor = self.rarity(term) * importance
            for document, weight in holders.items():
                scores[document] = scores.get(document, 0.0) + factor * weight
        return scores
