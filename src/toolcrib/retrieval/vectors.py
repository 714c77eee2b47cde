"""The vectors of an index's rows, in one matrix, and their similarity to a question, by whole texts and by
tokens.

Token vectors stay in their mapped files and are only read for promising rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from toolcrib.retrieval import arithmetic
from toolcrib.retrieval.embedder import SCALE, Embedded, QueryVectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Flags = NDArray[np.bool_]
    Rows = NDArray[np.int64]

_LEAST = 64


class Vectors:
    """Vectors by row; some rows may have none."""

    def __init__(self, dimension: int) -> None:
        arithmetic.prepare()
        import numpy as np

        self.dimension = dimension
        self._matrix: Floats = np.zeros((_LEAST, dimension), np.float32)
        self._known: Flags = np.zeros(_LEAST, np.bool_)
        self._tokens: dict[int, NDArray[np.int8]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def put(self, row: int, embedded: Embedded) -> None:
        self._grow(row + 1)
        self._count += not self._known[row]
        self._matrix[row] = embedded.vector
        self._known[row] = True
        if embedded.tokens is not None:
            self._tokens[row] = embedded.tokens

    def drop(self, row: int) -> None:
        if row >= len(self._known) or not self._known[row]:
            return
        self._known[row] = False
        self._tokens.pop(row, None)
        self._count -= 1

    def has(self, row: int) -> bool:
        return row < len(self._known) and bool(self._known[row])

    def known(self, size: int) -> Flags:
        """Whether each of the first `size` rows has a vector."""
        self._grow(size)
        return self._known[:size]

    def dense(self, part: QueryVectors, size: int) -> Floats:
        """The similarity of each of the first `size` rows to a question; 0 without a vector."""
        import numpy as np

        self._grow(size)
        # Some BLAS builds raise flags for padding values.
        with np.errstate(all="ignore"):
            near: Floats = self._matrix[:size] @ part.vector
        return near * self._known[:size]

    def late(self, part: QueryVectors, rows: Rows) -> tuple[Floats, Floats]:
        """For each row: how well its tokens match the question's, and how much of them is covered."""
        import numpy as np

        forth, back = np.zeros(len(rows), np.float32), np.zeros(len(rows), np.float32)
        held = [n for n, row in enumerate(rows.tolist()) if row in self._tokens]
        if not held or part.tokens is None or part.weights is None:
            return forth, back
        texts = [self._tokens[int(rows[n])] for n in held]
        lengths = np.array([len(text) for text in texts])
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        with np.errstate(all="ignore"):
            near = np.concatenate(texts).astype(np.float32) @ part.tokens.T / SCALE
            forth[held] = np.maximum.reduceat(near, starts, axis=0) @ part.weights
        back[held] = np.add.reduceat(near.max(axis=1), starts) / lengths
        return forth, back

    def renumber(self, fresh: Mapping[int, int]) -> None:
        """Move rows to new numbers; rows not in the mapping are removed."""
        import numpy as np

        old = np.array([row for row in fresh if self.has(row)], np.int64)
        new = np.array([fresh[int(row)] for row in old], np.int64)
        matrix = np.zeros((max(_LEAST, len(fresh)), self.dimension), np.float32)
        known = np.zeros(len(matrix), np.bool_)
        matrix[new], known[new] = self._matrix[old], True
        self._tokens = {fresh[row]: text for row, text in self._tokens.items() if row in fresh}
        self._matrix, self._known, self._count = matrix, known, len(old)

    def _grow(self, size: int) -> None:
        import numpy as np

        if size <= len(self._known):
            return
        more = max(size, int(len(self._known) * 1.25)) - len(self._known)
        self._matrix = np.concatenate([self._matrix, np.zeros((more, self.dimension), np.float32)])
        self._known = np.concatenate([self._known, np.zeros(more, np.bool_)])
