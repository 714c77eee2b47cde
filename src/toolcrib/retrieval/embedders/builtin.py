"""The model that ships with the package: small, on the CPU, without a download, a hub or an account.

One pass gives a vector for a text and a short vector for each of its tokens. The vectors of a question's
clauses come from the same pass, so several tasks in one question cost no more than one.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib.retrieval import arithmetic
from toolcrib.retrieval.embedding import SCALE, Embedded, EmbedderSettings, EmbedderUnavailable, Part
from toolcrib.retrieval.wordpieces import WordPieces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL = Path(__file__).parents[1] / "model"
LONGEST_QUESTION = 96
LONGEST_PASSAGE = 64
_TOLD_BY = 1 << 20
AT_ONCE = 8
"""Texts in one pass: more gain nothing on one core."""


def open(settings: EmbedderSettings) -> BuiltIn:  # noqa: A001
    """The built-in model; it is read when it is first used."""
    return BuiltIn()


class BuiltIn:
    """Runs the shipped model; may be used by several threads."""

    dimension = 384
    token_width = 64

    def __init__(self, folder: Path = MODEL) -> None:
        self._folder = folder
        self._loading = threading.Lock()

    @cached_property
    def id(self) -> str:
        """From the size and the end of the model file: another model, other vectors."""
        with (self._folder / "model.onnx").open("rb") as file:
            size = file.seek(0, 2)
            file.seek(-min(size, _TOLD_BY), 2)
            digest = hashlib.sha256(file.read() + str(size).encode())
        return f"builtin-{digest.hexdigest()[:16]}"

    def embed(self, passages: Sequence[str]) -> list[Embedded]:
        """The vectors of tools."""
        arithmetic.prepare()
        import numpy as np

        cut = [self._pieces.encode(text, LONGEST_PASSAGE)[0] for text in passages]
        order = sorted(range(len(cut)), key=lambda number: len(cut[number]))
        made: dict[int, Embedded] = {}
        for at in range(0, len(order), AT_ONCE):
            group = order[at : at + AT_ONCE]
            vectors, tokens = self._run([cut[number] for number in group], ["embedding", "tokens"])
            for row, number in enumerate(group):
                short = np.rint(tokens[row, : len(cut[number])] * SCALE).astype(np.int8)
                made[number] = Embedded(vectors[row], short)
        return [made[number] for number in range(len(cut))]

    def read(self, question: str, spans: Sequence[tuple[int, int]]) -> list[Part]:
        """The question whole, then its clauses."""
        ids, places = self._pieces.encode(question, LONGEST_QUESTION)
        states, tokens, weights = self._run([ids], ["states", "tokens", "importance"])
        whole = _part(states[0], tokens[0], weights[0], range(len(ids)))
        parts = [whole]
        for start, end in spans:
            inside = [
                n for n, (begins, ends) in enumerate(places) if start <= begins and begins < ends <= end
            ]
            parts.append(_part(states[0], tokens[0], weights[0], inside) if inside else whole)
        return parts

    def _run(self, rows: Sequence[Sequence[int]], wanted: list[str]) -> list[Any]:
        arithmetic.prepare()
        import numpy as np

        longest = max(map(len, rows))
        ids = np.zeros((len(rows), longest), np.int64)
        mask = np.zeros((len(rows), longest), np.int64)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = row
            mask[number, : len(row)] = 1
        made: list[Any] = self._session.run(wanted, {"input_ids": ids, "attention_mask": mask})
        return made

    @property
    def _session(self) -> Any:
        with self._loading:
            return self._loaded

    @cached_property
    def _loaded(self) -> Any:
        try:
            import onnxruntime  # type: ignore[import-untyped]
        except ImportError as error:
            raise EmbedderUnavailable(
                f"The built-in model cannot run here: {error}.",
                hint="Install onnxruntime, or choose another embedder in the settings.",
            ) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Without the arena the memory of a pass goes back; it costs nothing that can be measured.
        options.enable_cpu_mem_arena = False
        session = onnxruntime.InferenceSession(
            str(self._folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        arithmetic.give_back()
        return session

    @cached_property
    def _pieces(self) -> WordPieces:
        return WordPieces.read(self._folder / "vocab.txt")


def _part(
    states: NDArray[np.float32],
    tokens: NDArray[np.float32],
    weights: NDArray[np.float32],
    inside: Sequence[int],
) -> Part:
    import numpy as np

    rows = list(inside)
    mean = states[rows].mean(0)
    share = weights[rows]
    return Part(mean / np.linalg.norm(mean), tokens[rows], share / max(float(share.sum()), 1e-6))
