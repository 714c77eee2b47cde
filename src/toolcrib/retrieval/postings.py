"""Which rows contain which word, with its weight; rows are added and removed one by one.

Cached tools are used directly from disk (see `word_cache.py`); new ones take twelve bytes a posting. Row
numbers are not reused until `renumber`.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from typing import TYPE_CHECKING

from toolcrib.retrieval import arithmetic
from toolcrib.retrieval.word_cache import Block

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = NDArray[np.float64]
    Rows = NDArray[np.int32]

_NO_ROW = -1


class Postings:
    """An inverted index; word weights are computed on demand."""

    def __init__(self) -> None:
        self._terms: dict[str, tuple[array[int], array[float]]] = {}
        self._holders: dict[str, int] = {}
        self._documents: dict[int, tuple[str, ...]] = {}
        self._alive = bytearray()
        self._blocks: dict[Block, Rows] = {}
        """For each tool of a block its row, or none."""
        self._taken: dict[int, tuple[Rows, int]] = {}
        self._counted: dict[str, int] = {}
        """Rows that contain a word, for words used since the last change."""
        self.size = 0
        """All rows ever added, including removed ones."""

    def __len__(self) -> int:
        return len(self._documents) + len(self._taken)

    def put(self, weights: Mapping[str, float]) -> int:
        """Add a document; returns its row."""
        row = self._next()
        self._documents[row] = tuple(weights)
        for term, weight in weights.items():
            found = self._terms.get(term)
            if found is None:
                found = self._terms[term] = (array("i"), array("d"))
            found[0].append(row)
            found[1].append(weight)
            self._holders[term] = self._holders.get(term, 0) + 1
        return row

    def take(self, block: Block, number: int) -> int | None:
        """Add a cached document; returns its row, or None if it is already added."""
        rows = self._blocks.get(block)
        if rows is None:
            import numpy as np

            rows = self._blocks[block] = np.full(len(block.keys), _NO_ROW, np.int32)
        if rows[number] != _NO_ROW:
            return None
        row = self._next()
        rows[number] = row
        self._taken[row] = (rows, number)
        return row

    def drop(self, row: int) -> None:
        self._alive[row] = 0
        self._counted.clear()
        taken = self._taken.pop(row, None)
        if taken is not None:
            taken[0][taken[1]] = _NO_ROW
            return
        for term in self._documents.pop(row):
            self._holders[term] -= 1
            if not self._holders[term]:
                del self._holders[term], self._terms[term]

    def rarity(self, term: str) -> float:
        """BM25's inverse document frequency; 0 for an unknown word."""
        holders = self._counted.get(term)
        if holders is None:
            holders = self._counted[term] = self._count(term)
        if not holders:
            return 0.0
        return math.log(1 + (len(self) - holders + 0.5) / (holders + 0.5))

    def score(self, terms: Mapping[str, float]) -> Scores:
        """The score of every row for these weighted words; 0 for removed rows."""
        arithmetic.prepare()
        import numpy as np

        # One extra for documents without a row (-1).
        scores = np.zeros(self.size + 1)
        for term, importance in terms.items():
            worth = self.rarity(term) * importance
            found = self._terms.get(term)
            if found is not None:
                scores[np.frombuffer(found[0], np.intc)] += np.frombuffer(found[1]) * worth
            for block, rows in self._blocks.items():
                held = block.find(term)
                if held is not None:
                    scores[rows[held[0]]] += held[1] * worth
        return scores[:-1] * np.frombuffer(bytes(self._alive), np.uint8)

    def renumber(self) -> dict[int, int]:
        """Close the gaps; returns the new row of each old one."""
        fresh = {old: new for new, old in enumerate(sorted([*self._documents, *self._taken]))}
        for term, (rows, weights) in self._terms.items():
            kept = [(fresh[row], weight) for row, weight in zip(rows, weights, strict=True) if row in fresh]
            self._terms[term] = (
                array("i", [row for row, _ in kept]),
                array("d", [weight for _, weight in kept]),
            )
        for row, (rows_of_block, number) in self._taken.items():
            rows_of_block[number] = fresh[row]
        self._documents = {fresh[row]: terms for row, terms in self._documents.items()}
        self._taken = {fresh[row]: place for row, place in self._taken.items()}
        self._blocks = {block: rows for block, rows in self._blocks.items() if (rows != _NO_ROW).any()}
        self.size = len(fresh)
        self._alive = bytearray(b"\1" * len(fresh))
        return fresh

    def _next(self) -> int:
        self.size += 1
        self._alive.append(1)
        self._counted.clear()
        return self.size - 1

    def _count(self, term: str) -> int:
        count = self._holders.get(term, 0)
        for block, rows in self._blocks.items():
            held = block.find(term)
            if held is not None:
                count += int((rows[held[0]] != _NO_ROW).sum())
        return count
