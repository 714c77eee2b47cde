"""The embedding model that ships with the package: small, on the CPU, without downloads or accounts. Has its
tokenizer and the limits in tokens for a question and a tool's text.

One pass gives a vector for a text and a short vector for each token. The vectors of a question's clauses come
from the same pass. The tokenizer is our own because the usual package depends on a model hub's client.
"""

from __future__ import annotations

import hashlib
import re
import threading
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib.retrieval import arithmetic
from toolcrib.retrieval.embedder import SCALE, Embedded, EmbedderChoice, EmbedderUnavailable, QueryVectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_BEGIN, _END, _UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
_LONGEST_WORD = 100
"""Characters; longer words are unknown, as in training."""
_CHARACTERS_A_PIECE = 40
"""Characters of a text for each token that may result; more cannot matter."""
_IDEOGRAPH = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ebef\U0002f800-\U0002fa1f"
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_PLAIN = re.compile(r"[a-z0-9]+|[^\sa-z0-9]")


class WordPieces:
    """A tokenizer with a fixed vocabulary."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._known = vocabulary
        self._begin, self._end = vocabulary[_BEGIN], vocabulary[_END]
        self._unknown = vocabulary[_UNKNOWN]
        self._pieces = lru_cache(maxsize=32_768)(self._cut)

    @classmethod
    def read(cls, path: Path) -> WordPieces:
        """The vocabulary of a file with one token a line."""
        # Not `splitlines`, which splits at characters that are tokens themselves.
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        return cls({piece: number for number, piece in enumerate(lines)})

    def encode(self, text: str, most: int) -> tuple[list[int], list[tuple[int, int]]]:
        """The ids of at most `longest` tokens, ends included, and their positions in the text."""
        text = text[: most * _CHARACTERS_A_PIECE]
        ids, places = [self._begin], [(0, 0)]
        for word, start, end in _words(text):
            pieces = self._pieces(word)
            ids += pieces
            places += [(start, end)] * len(pieces)
            if len(ids) >= most:
                break
        del ids[most - 1 :], places[most - 1 :]
        return [*ids, self._end], [*places, (0, 0)]

    def _cut(self, word: str) -> tuple[int, ...]:
        """Repeatedly takes the longest known token from the left."""
        if len(word) > _LONGEST_WORD:
            return (self._unknown,)
        found, start = [], 0
        while start < len(word):
            before = "##" if start else ""
            for end in range(len(word), start, -1):
                number = self._known.get(before + word[start:end])
                if number is not None:
                    break
            else:
                return (self._unknown,)
            found.append(number)
            start = end
        return tuple(found)


def _words(text: str) -> list[tuple[str, int, int]]:
    lowered = text.lower()
    if lowered.isascii() and _CONTROL.search(lowered) is None:
        return [(found[0], found.start(), found.end()) for found in _PLAIN.finditer(lowered)]
    return _folded_words(text)


def _folded_words(text: str) -> list[tuple[str, int, int]]:
    """For any script: removes accents, separates punctuation and ideographs."""
    words: list[tuple[str, int, int]] = []
    current, start = "", 0
    for place, letter in enumerate(text):
        kind = unicodedata.category(letter)
        folded = _fold(letter)
        if kind[0] == "C" and letter not in "\t\n\r":
            continue
        if letter.isspace():
            current = _close(words, current, start, place)
        elif kind[0] == "P" or (letter.isascii() and not letter.isalnum()) or _ANY_IDEOGRAPH.match(letter):
            current = _close(words, current, start, place)
            words.append((folded or letter, place, place + 1))
        else:
            start = start if current else place
            current += folded
    _close(words, current, start, len(text))
    return words


def _close(words: list[tuple[str, int, int]], current: str, start: int, end: int) -> str:
    if current:
        words.append((current, start, end))
    return ""


@lru_cache(maxsize=4096)
def _fold(letter: str) -> str:
    decomposed = unicodedata.normalize("NFD", letter.lower())
    return "".join(part for part in decomposed if unicodedata.category(part) != "Mn")


_ANY_IDEOGRAPH = re.compile(rf"[{_IDEOGRAPH}]")


MODEL = Path(__file__).parents[1] / "model"
LONGEST_QUESTION = 96
LONGEST_PASSAGE = 64
_TOLD_BY = 1 << 20
AT_ONCE = 8
"""Texts in one pass: more gain nothing on one core."""


def open(settings: EmbedderChoice) -> BuiltinEmbedder:  # noqa: A001
    """The built-in model, loaded on first use."""
    return BuiltinEmbedder()


class BuiltinEmbedder:
    """Runs the built-in model; thread-safe."""

    dimension = 384
    token_width = 64

    def __init__(self, folder: Path = MODEL) -> None:
        self._folder = folder
        self._loading = threading.Lock()

    @cached_property
    def id(self) -> str:
        """From the size and the end of the model file."""
        with (self._folder / "model.onnx").open("rb") as file:
            size = file.seek(0, 2)
            file.seek(-min(size, _TOLD_BY), 2)
            digest = hashlib.sha256(file.read() + str(size).encode())
        return f"builtin-{digest.hexdigest()[:16]}"

    def embed(self, passages: Sequence[str]) -> list[Embedded]:
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

    def read(self, question: str, spans: Sequence[tuple[int, int]]) -> list[QueryVectors]:
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
        # Without the arena, memory is returned after each pass, at no measurable cost.
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
) -> QueryVectors:
    import numpy as np

    rows = list(inside)
    mean = states[rows].mean(0)
    share = weights[rows]
    return QueryVectors(mean / np.linalg.norm(mean), tokens[rows], share / max(float(share.sum()), 1e-6))
