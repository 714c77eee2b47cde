"""Reading text in pictures: every engine that is installed, the cache, the deadline and other languages."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy
import pytest

from toolcrib.bundled.desktop.backend import SetupProblem
from toolcrib.bundled.desktop.vision.engine import EngineReading, OcrEngine, all_engines
from toolcrib.bundled.desktop.vision.engines.tesseract import TesseractEngine
from toolcrib.bundled.desktop.vision.language_data import (
    data_folder,
    installed_languages,
    parse_languages,
)
from toolcrib.bundled.desktop.vision.preparation import Band, even_ground, find_ink, split, text_scale
from toolcrib.bundled.desktop.vision.reading import NoOcr, TextReader


def _picture(*lines: str, dark: bool = False, height: int = 0) -> numpy.ndarray:
    ground, ink = (20, (230, 230, 230)) if dark else (250, (10, 10, 10))
    pixels = numpy.full((height or 20 + 30 * len(lines), 420, 3), ground, numpy.uint8)
    for number, line in enumerate(lines):
        at = (10, 30 + 30 * number)
        cv2.putText(pixels, line, at, cv2.FONT_HERSHEY_SIMPLEX, 0.6, ink, 1, cv2.LINE_AA)
    return pixels


class _Counting(TesseractEngine):
    """The real engine, counting how often it reads."""

    reads = 0

    def read(self, pixels: numpy.ndarray, languages: Sequence[str], timeout: float) -> EngineReading:
        self.reads += 1
        return super().read(pixels, languages, timeout)


class _Stuck(TesseractEngine):
    """Never returns until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.released = threading.Event()

    def read(self, pixels: numpy.ndarray, languages: Sequence[str], timeout: float) -> EngineReading:
        self.released.wait(60)
        return EngineReading(())


class _Absent(TesseractEngine):
    def probe(self) -> SetupProblem | None:
        return SetupProblem("There is no engine.", "Install one.")


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(each, id=each.name, marks=[] if each.name == "tesseract" else pytest.mark.acceptance)
        for each in all_engines()
    ],
)
async def test_an_engine_reads_words_with_their_places(engine: OcrEngine) -> None:
    assert engine.probe() is None
    reader = TextReader([engine])
    for dark in (False, True):
        reading = await reader.read(_picture("Open the window", "Save changes", dark=dark), timeout=60)
        assert reading.text == "Open the window\nSave changes"
        window = reading.lines[0].words[2]
        before = cv2.getTextSize("Open the ", cv2.FONT_HERSHEY_SIMPLEX, 0.6, 1)[0][0]
        assert abs(window.rect.x - 10 - before) < 12
        assert abs(window.rect.centre.y - 24) < 8
        assert reading.engine == engine.name


async def test_equal_pixels_are_read_once() -> None:
    engine = _Counting()
    reader = TextReader([engine])
    picture = _picture("unchanged")
    assert await reader.read(picture) is await reader.read(picture.copy())
    assert engine.reads == 1
    picture[0, 0] = 0
    await reader.read(picture)
    assert engine.reads == 2


async def test_an_engine_that_hangs_is_given_up_and_the_answer_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("toolcrib.bundled.desktop.vision.reading.GRACE", 0.05)
    engine = _Stuck()
    reader = TextReader([engine])
    picture = _picture("slow")
    reading = await reader.read(picture, timeout=0.05)
    assert not reading.complete
    assert reading.lines == ()
    engine.released.set()
    assert (await reader.read(picture)).complete


async def test_time_that_is_over_leaves_an_incomplete_reading() -> None:
    page = _picture(*["many words of a long page"] * 6)
    engine = TesseractEngine()
    whole = engine.read(page, ["eng"], 60)
    stopped = engine.read(page, ["eng"], 0.001)
    assert (whole.complete, stopped.complete) == (True, False)
    assert len(stopped.words) < len(whole.words) == 36


async def test_without_an_engine_the_error_says_what_to_install() -> None:
    with pytest.raises(NoOcr) as raised:
        await TextReader([_Absent()]).read(_picture("x"))
    assert raised.value.hint == "Install one."


async def test_a_missing_language_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NoOcr) as raised:
        await TextReader([TesseractEngine()]).read(_picture("x"), "eng+chi_tra_vert")
    assert "tesseract-ocr-chi-tra-vert" in raised.value.hint
    assert "eng" in raised.value.hint


async def test_languages_from_several_places_are_used_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(installed_languages()["eng"], tmp_path / "new.traineddata")
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    monkeypatch.setattr("toolcrib.bundled.desktop.vision.language_data.SYSTEM_FOLDERS", ())
    (tmp_path / "eng.traineddata").unlink(missing_ok=True)
    assert data_folder(["new"]) == tmp_path
    assert {file.name for file in data_folder(["new", "eng"]).iterdir()} >= {
        "new.traineddata",
        "eng.traineddata",
    }
    reading = await TextReader([TesseractEngine()]).read(_picture("two languages"), "new+eng")
    assert reading.text == "two languages"


def test_languages_are_named_in_usual_ways() -> None:
    assert parse_languages("de, en") == ["deu", "eng"]
    assert parse_languages("deu+eng+deu") == ["deu", "eng"]
    assert parse_languages("") == ["eng"]


def test_only_small_letters_are_enlarged() -> None:
    small = cv2.cvtColor(_picture("a small font in a window"), cv2.COLOR_BGR2GRAY)
    large = cv2.resize(small, None, fx=3, fy=3, interpolation=cv2.INTER_CUBIC)
    tiny = cv2.resize(small, None, fx=0.7, fy=0.7, interpolation=cv2.INTER_AREA)
    assert text_scale(find_ink(large)) == 1
    assert 1 < text_scale(find_ink(tiny)) <= 2


def _bands(page: numpy.ndarray) -> list[Band]:
    return split(page, find_ink(page))


@pytest.fixture
def three_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolcrib.bundled.desktop.vision.preparation._processors", lambda: 3)


def test_bands_have_the_same_amount_of_text_and_begin_between_two_lines(three_processors: None) -> None:
    page = cv2.cvtColor(_picture(*["equal lines of text"] * 12, height=900), cv2.COLOR_BGR2GRAY)
    cv2.rectangle(page, (2, 2), (417, 897), 90, 1)  # the border of a window crosses every row
    bands = _bands(page)
    ink = numpy.count_nonzero(find_ink(page)[:, 8:410], axis=1)
    shares = [ink[band.top : band.bottom].sum() / ink.sum() for band in bands]
    assert shares == pytest.approx([1 / 3] * 3, abs=0.05)
    assert [band.top for band in bands[1:]] == [band.bottom for band in bands[:-1]]
    assert all(ink[band.top] == 0 for band in bands)


def test_a_line_that_cannot_be_cut_around_is_whole_in_one_of_the_bands(three_processors: None) -> None:
    page = numpy.full((800, 100), 255, numpy.uint8)
    page[::2, 40:60:4] = 0  # ink in nearly every row
    page[1::2, 42:60:4] = 0
    bands = _bands(page)
    assert len(bands) == 3
    for middle in range(20, 780):
        band = next(each for each in bands if each.top <= middle < each.bottom)
        assert band.start <= middle - 20
        assert middle + 20 <= band.start + band.pixels.shape[0]


@pytest.mark.parametrize("ground", [0, 255])
def test_a_picture_without_text_is_read_as_empty(three_processors: None, ground: int) -> None:
    page = numpy.full((800, 300, 3), ground, numpy.uint8)
    assert len(_bands(even_ground(page))) >= 1
    assert TesseractEngine().read(page, ["eng"], 60) == EngineReading(())


def test_the_edge_of_a_dark_area_does_not_touch_the_text_in_it() -> None:
    """Wherever it begins: a bar along the letters would hide them from the engine."""
    for top in range(40, 56):
        pixels = numpy.full((120, 420, 3), 240, numpy.uint8)
        pixels[top : top + 32, 10:410] = (136, 68, 0)
        grey = even_ground(pixels)
        inside = grey[top + 4 : top + 28, 30:390]  # the corners are rounded
        assert inside.min() == inside.max() > 128


async def test_a_high_picture_is_read_in_bands_without_losing_or_doubling_a_line(
    three_processors: None,
) -> None:
    numbers = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    lines = [f"line {numbers[index % 10]} of part {numbers[index // 10]}" for index in range(26)]
    reading = await TextReader([TesseractEngine()]).read(_picture(*lines))
    assert reading.text.splitlines() == lines
