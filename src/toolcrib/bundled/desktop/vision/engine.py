"""The contract of an OCR engine; each module of `engines` offers one as `ENGINE`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Protocol

from toolcrib.bundled.desktop.backend import SetupProblem
from toolcrib.bundled.desktop.vision import engines
from toolcrib.bundled.desktop.vision.text import OcrWord

if TYPE_CHECKING:
    import numpy


@dataclass(frozen=True)
class EngineReading:
    words: tuple[OcrWord, ...]
    complete: bool = True
    """False if the time was over before everything was read."""


class OcrEngine(Protocol):
    """Reads text in pictures. All methods block and may be called from several threads at once."""

    @property
    def name(self) -> str: ...

    @property
    def order(self) -> int:
        """The engine with the lowest number is asked first."""

    def probe(self) -> SetupProblem | None:
        """What is missing; None if it can be used."""

    def languages(self) -> Collection[str]:
        """Codes of ISO 639-2 such as `eng`, as Tesseract names them."""

    def missing_language(self, language: str) -> SetupProblem:
        """How to get a language that is not among `languages`."""

    def read(self, pixels: numpy.ndarray, languages: Sequence[str], timeout: float) -> EngineReading:
        """The words of a picture (height x width x 3, blue first) in the order of reading."""


@cache
def all_engines() -> tuple[OcrEngine, ...]:
    names = [f"{engines.__name__}.{module.name}" for module in pkgutil.iter_modules(engines.__path__)]
    found: list[OcrEngine] = [importlib.import_module(name).ENGINE for name in names]
    return tuple(sorted(found, key=lambda engine: engine.order))
