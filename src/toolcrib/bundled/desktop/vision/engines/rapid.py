"""RapidOCR: neural networks that also read Chinese and decorated text, at ten times the cost. Has its
languages and settings, and how pieces become lines and words."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from toolcrib.bundled.desktop.backend import SetupProblem
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.vision.engine import EngineReading
from toolcrib.bundled.desktop.vision.text import OcrWord

if TYPE_CHECKING:
    import numpy

LANGUAGES = ("chi_sim", "chi_tra", "eng", "jpn")
"""Of the one model that is inside the package."""
SETTINGS = {
    "Global.log_level": "warning",
    "EngineConfig.onnxruntime.intra_op_num_threads": 2,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
    # By default, small pictures are enlarged to 736 pixels, which takes seconds.
    "Det.limit_type": "max",
    "Det.limit_side_len": 1920,
}
Piece = tuple[Rect, str, float]
SAME_LINE = 0.5
"""Pieces are in one line if their middles differ by less than this part of their height."""


class RapidEngine:
    name = "rapidocr"
    order = 20

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._network: Any = None

    def probe(self) -> SetupProblem | None:
        if importlib.util.find_spec("rapidocr") is not None:
            return None
        return SetupProblem(
            "The OCR engine RapidOCR is not installed.", "Install it: pip install 'toolcrib[desktop-ocr]'."
        )

    def languages(self) -> Sequence[str]:
        return LANGUAGES

    def missing_language(self, language: str) -> SetupProblem:
        return SetupProblem(
            f"RapidOCR does not read the language {language!r}.", f"It reads {', '.join(LANGUAGES)}."
        )

    def read(self, pixels: numpy.ndarray, languages: Sequence[str], timeout: float) -> EngineReading:
        if not self._lock.acquire(timeout=timeout):  # it cannot be stopped while it reads
            return EngineReading((), complete=False)
        try:
            if self._network is None:
                self._network = _load()
            result = self._network(pixels)
        finally:
            self._lock.release()
        return EngineReading(tuple(words_of(result)))


def _load() -> Any:
    from rapidocr import RapidOCR

    return RapidOCR(params=SETTINGS)


def words_of(result: Any) -> Iterator[OcrWord]:
    if result.boxes is None or result.txts is None:
        return
    pieces = [(_rect(box), text, float(score)) for box, text, score in _zipped(result)]
    for number, line in enumerate(_lines(pieces)):
        for rect, text, score in line:
            yield from _split(text, rect, score, number)


def _zipped(result: Any) -> Iterator[tuple[numpy.ndarray, str, float]]:
    return zip(result.boxes, result.txts, result.scores, strict=True)


def _lines(pieces: list[Piece]) -> list[list[Piece]]:
    """From top to bottom, each from left to right."""
    lines: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda part: part[0].centre.y):
        rect = piece[0]
        if lines and abs(rect.centre.y - lines[-1][-1][0].centre.y) <= SAME_LINE * rect.height:
            lines[-1].append(piece)
        else:
            lines.append([piece])
    return [sorted(line, key=lambda part: part[0].x) for line in lines]


def _rect(box: numpy.ndarray) -> Rect:
    left, top = int(box[:, 0].min()), int(box[:, 1].min())
    return Rect(left, top, int(box[:, 0].max()) - left, int(box[:, 1].max()) - top)


def _split(text: str, rect: Rect, score: float, line: int) -> Iterator[OcrWord]:
    """The words of a piece of a line, placed by the number of their characters."""
    position = 0
    for part in text.split():
        start = text.index(part, position)
        position = start + len(part)
        left = rect.x + rect.width * start // len(text)
        right = rect.x + rect.width * position // len(text)
        yield OcrWord(part, Rect(left, rect.y, max(1, right - left), rect.height), round(score, 3), line)


ENGINE = RapidEngine()
