"""Which rows hold which word, and how much it counts there; rows come and go one by one.

A row is never used twice: what is gone is masked, until `renumber` closes the gaps. Twelve bytes a posting.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from typing import TYPE_CHECKING

from toolcrib.retrieval import arithmetic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = NDArray[np.float64]


class Postings:
    """An inverted index. What a word is worth is computed when it is asked for, so nothing goes stale."""

    def __init__(self) -> None:
        self._terms: dict[str, tuple[array[int], array[float]]] = {}
        self._holders: dict[str, int] = {}
        self._documents: dict[int, tuple[str, ...]] = {}
        self._alive = bytearray()
        self.size = 0
        """Rows that were ever given, those that are gone included."""

    def __len__(self) -> int:
        return len(self._documents)

    def put(self, weights: Mapping[str, float]) -> int:
        """Add a document; returns its row."""
        row = self.size
        self.size += 1
        self._documents[row] = tuple(weights)
        self._alive.append(1)
        for term, weight in weights.items():
            found = self._terms.get(term)
            if found is None:
                found = self._terms[term] = (array("i"), array("d"))
            found[0].append(row)
            found[1].append(weight)
            self._holders[term] = self._holders.get(term, 0) + 1
        return row

    def drop(self, row: int) -> None:
        """Forget a document."""
        self._alive[row] = 0
        for term in self._documents.pop(row):
            self._holders[term] -= 1
            if not self._holders[term]:
                del self._holders[term], self._terms[term]

    def rarity(self, term: str) -> float:
        """BM25's inverse document frequency; 0 for a word that nobody has."""
        holders = self._holders.get(term, 0)
        if not holders:
            return 0.0
        return math.log(1 + (len(self._documents) - holders + 0.5) / (holders + 0.5))

    def score(self, terms: Mapping[str, float]) -> Scores:
        """For every row how well it fits these words, each with its weight; 0 for rows that are gone."""
        arithmetic.prepare()
        import numpy as np

        scores = np.zeros(self.size)
        for term, importance in terms.items():
            found = self._terms.get(term)
            if found is None:
                continue
            rows, weights = np.frombuffer(found[0], np.intc), np.frombuffer(found[1])
            scores[rows] += weights * (self.rarity(term) * importance)
        return scores * np.frombuffer(bytes(self._alive), np.uint8)

    def renumber(self) -> dict[int, int]:
        """Close the gaps; returns the new row of each old one."""
        fresh = {old: new for new, old in enumerate(sorted(self._documents))}
        for term, (rows, weights) in self._terms.items():
            kept = [(fresh[row], weight) for row, weight in zip(rows, weights, strict=True) if row in fresh]
            self._terms[term] = (array("i", [row for row, _ in kept]), array("d", [one for _, one in kept]))
        self._documents = {fresh[row]: terms for row, terms in self._documents.items()}
        self.size = len(fresh)
        self._alive = bytearray(b"\1" * len(fresh))
        return fresh
