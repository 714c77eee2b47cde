"""Pictures found in pictures, and pictures from outside that are refused before they are decoded."""

from __future__ import annotations

import base64
import struct
import zlib

import cv2
import numpy
import pytest

from toolcrib.bundled.desktop.vision import templates
from toolcrib.bundled.desktop.vision.decoding import InvalidPicture, decode_picture, picture_size
from toolcrib.bundled.desktop.vision.templates import check_template, find_template


@pytest.fixture(scope="module")
def screen() -> numpy.ndarray:
    """Text, gradients and shapes, like a screen with several windows."""
    random = numpy.random.default_rng(7)
    picture = numpy.full((400, 640, 3), 240, numpy.uint8)
    picture[200:, 320:] = 30
    for number in range(120):
        x, y = (int(each) for each in random.integers((0, 12), (600, 395)))
        colour = [int(each) for each in random.integers(0, 255, 3)]
        if number % 3:
            word = "".join(chr(97 + int(letter)) for letter in random.integers(0, 26, 6))
            cv2.putText(picture, word, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 0.4, colour, 1, cv2.LINE_AA)
        else:
            cv2.circle(picture, (x, y), int(random.integers(4, 24)), colour, -1, cv2.LINE_AA)
    return picture


def _base64(pixels: numpy.ndarray, suffix: str = ".png") -> str:
    return base64.b64encode(cv2.imencode(suffix, pixels)[1].tobytes()).decode()


def _png_header(width: int, height: int) -> str:
    """A valid start of a PNG that claims this size, with a few bytes of data."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(bytes(1000)))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + header + body + chunk(b"IEND", b"")).decode()


@pytest.mark.parametrize("threshold", [0.88, 0.97])
def test_the_first_pass_loses_no_match(screen: numpy.ndarray, threshold: float) -> None:
    """Every place that a search at full resolution finds is in one of its areas, also after compression."""
    random = numpy.random.default_rng(3)
    brighter = numpy.clip(screen.astype(int) + 8, 0, 255).astype(numpy.uint8)
    noisy = cv2.imdecode(cv2.imencode(".jpg", brighter, [cv2.IMWRITE_JPEG_QUALITY, 60])[1], cv2.IMREAD_COLOR)
    halved = checked = 0
    for _ in range(40):
        width, height = (int(each) for each in random.integers((12, 12), (64, 48)))
        x, y = (int(each) for each in random.integers((0, 0), (640 - width, 400 - height)))
        wanted = cv2.cvtColor(screen[y : y + height, x : x + width], cv2.COLOR_BGR2GRAY)
        if wanted.std() < 12:
            continue
        for picture in (screen, noisy):
            grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
            areas = templates._areas(grey, wanted, threshold)
            halved += areas[0].width < 640 if areas else 1
            scores = cv2.matchTemplate(grey, wanted, cv2.TM_CCOEFF_NORMED)
            for row, column in numpy.argwhere(scores >= threshold):
                checked += 1
                assert any(
                    area.x <= column <= area.x + area.width - width
                    and area.y <= row <= area.y + area.height - height
                    for area in areas
                )
    assert checked >= 40
    assert halved >= 1, "the first pass was never used"


def test_equal_pictures_are_all_found_and_no_place_twice(screen: numpy.ndarray) -> None:
    picture = screen.copy()
    icon = screen[100:130, 100:140].copy()
    places = [(10, 20), (301, 55), (500, 333)]
    for x, y in places:
        picture[y : y + 30, x : x + 40] = icon
    found = find_template(picture, icon, 0.98, 10)
    assert {(match.rect.x, match.rect.y) for match in found} == {*places, (100, 100)}
    assert len(find_template(picture, icon, 0.98, 2)) == 2


def test_the_same_shape_in_another_colour_is_another_picture() -> None:
    picture = numpy.full((80, 200, 3), 255, numpy.uint8)
    for x, colour in ((40, (40, 40, 220)), (140, (220, 40, 40))):
        cv2.circle(picture, (x, 40), 12, colour, -1)
    red = picture[20:60, 20:60].copy()
    assert [match.rect.x for match in find_template(picture, red, 0.95, 5)] == [20]


def test_a_template_without_contrast_or_of_a_few_pixels_is_refused() -> None:
    with pytest.raises(InvalidPicture, match="only one colour"):
        check_template(numpy.full((20, 20, 3), 90, numpy.uint8))
    with pytest.raises(InvalidPicture, match="only 3x20 pixels"):
        check_template(numpy.zeros((20, 3, 3), numpy.uint8))


def test_a_template_larger_than_the_picture_is_not_there(screen: numpy.ndarray) -> None:
    assert find_template(screen[:50, :50], screen[:60, :60], 0.9, 3) == []


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp"])
def test_usual_formats_are_decoded(screen: numpy.ndarray, suffix: str) -> None:
    encoded = _base64(screen, suffix)
    assert picture_size(base64.b64decode(encoded)) == (640, 400)
    assert decode_picture(f"data:image/x;base64,{encoded}").shape == (400, 640, 3)


def test_grey_and_opaque_pictures_are_decoded_and_transparent_ones_refused(screen: numpy.ndarray) -> None:
    grey = cv2.cvtColor(screen, cv2.COLOR_BGR2GRAY)
    assert decode_picture(_base64(grey)).shape == (400, 640, 3)
    opaque = cv2.cvtColor(screen, cv2.COLOR_BGR2BGRA)
    assert numpy.array_equal(decode_picture(_base64(opaque)), screen)
    opaque[0, 0, 3] = 0
    with pytest.raises(InvalidPicture, match="transparent"):
        decode_picture(_base64(opaque))


@pytest.mark.parametrize("size", [(50_000, 50_000), (2**31 - 1, 1), (1, 100_000), (12_000, 12_000), (0, 5)])
def test_a_picture_that_decodes_to_gigapixels_is_refused_by_its_header(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cv2, "imdecode", lambda *_: pytest.fail("it was decoded"))
    with pytest.raises(InvalidPicture, match="too large"):
        decode_picture(_png_header(*size))


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("%%%", "not valid base64"),
        ("", "not a PNG, JPEG or WebP"),
        (base64.b64encode(b"GIF89a....").decode(), "not a PNG, JPEG or WebP"),
        (base64.b64encode(b"\x89PNG\r\n\x1a\n").decode(), "damaged"),
        (base64.b64encode(b"\xff\xd8\xff\xe0").decode(), "damaged"),
        (base64.b64encode(b"RIFF1234WAVE").decode(), "damaged"),
        (_png_header(40, 4000), "cannot be decoded"),
    ],
)
def test_what_is_no_picture_is_refused_with_the_reason(given: str, problem: str) -> None:
    with pytest.raises(InvalidPicture, match=problem):
        decode_picture(given)
