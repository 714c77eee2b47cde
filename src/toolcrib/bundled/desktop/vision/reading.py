"""Reads the text of pictures with the first OCR engine that can: outside the event loop, equal pixels once.
Limits: seconds for a picture, largest picture, how many at once, results kept."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from toolcrib.bundled.desktop.vision.engine import EngineReading, OcrEngine, all_engines
from toolcrib.bundled.desktop.vision.language_data import parse_languages
from toolcrib.bundled.desktop.vision.text import TextLine, group_lines
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.threads import in_thread

if TYPE_CHECKING:
    import numpy

DEADLINE = 15.0
"""Seconds for one picture."""
GRACE = 3.0
"""Seconds after the deadline in which an engine returns what it has read."""
KEPT = 32
MAX_PIXELS = 40_000_000
AT_ONCE = 2
"""Pictures; further ones wait."""


class NoOcr(ToolFailure):
    """No engine can read this."""

    kind = "no_ocr"


@dataclass(frozen=True)
class OcrResult:
    lines: tuple[TextLine, ...]
    """Their places are pixels of the picture."""
    engine: str
    complete: bool = True

    @property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)


class TextReader:
    """Keeps the last readings, found again by the pixels of their picture."""

    def __init__(self, engines: Sequence[OcrEngine] | None = None) -> None:
        self._engines = engines
        self._kept: OrderedDict[tuple[str, ...], OcrResult] = OrderedDict()
        self._turns: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None

    async def read(
        self, pixels: numpy.ndarray, languages: str = "eng", timeout: float = DEADLINE
    ) -> OcrResult:
        """Raises `NoOcr` if no engine is installed or none has the language."""
        if pixels.shape[0] * pixels.shape[1] > MAX_PIXELS:
            raise NoOcr("The picture is too large for OCR.", "Name a window or a region.")
        wanted = parse_languages(languages)
        engine = await in_thread(self._choose, wanted)
        key = (engine.name, "+".join(wanted), await in_thread(_digest, pixels))
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        found = await self._read(engine, pixels, wanted, timeout)
        lines = await in_thread(group_lines, found.words)
        reading = OcrResult(tuple(lines), engine.name, found.complete)
        if reading.complete:
            self._keep(key, reading)
        return reading

    async def _read(
        self, engine: OcrEngine, pixels: numpy.ndarray, languages: Sequence[str], timeout: float
    ) -> EngineReading:
        try:
            async with asyncio.timeout(timeout + GRACE), self._turn():
                return await in_thread(engine.read, pixels, languages, timeout)
        except TimeoutError:
            return EngineReading((), complete=False)

    def _turn(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        if self._turns is None or self._turns[0] is not loop:
            self._turns = (loop, asyncio.Semaphore(AT_ONCE))
        return self._turns[1]

    def _choose(self, languages: Sequence[str]) -> OcrEngine:
        engines = all_engines() if self._engines is None else self._engines
        problems = [engine.probe() for engine in engines]
        usable = [engine for engine, problem in zip(engines, problems, strict=True) if problem is None]
        if not usable:
            first = next(problem for problem in problems if problem is not None)
            raise NoOcr(first.message, first.hint)
        for engine in usable:
            if set(languages) <= set(engine.languages()):
                return engine
        missing = next(language for language in languages if language not in usable[0].languages())
        problem = usable[0].missing_language(missing)
        raise NoOcr(problem.message, problem.hint)

    def _keep(self, key: tuple[str, ...], reading: OcrResult) -> None:
        self._kept[key] = reading
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)


@cache
def shared_reader() -> TextReader:
    """One for all sessions of a process: engines are large, and equal pixels have equal text."""
    return TextReader()


def _digest(pixels: numpy.ndarray) -> str:
    import numpy

    made = hashlib.blake2b(numpy.ascontiguousarray(pixels).data, digest_size=16)
    made.update(repr(pixels.shape).encode())
    return made.hexdigest()
