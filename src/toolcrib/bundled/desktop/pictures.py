"""Screenshots as JPEG, PNG or TIFF of a limited size, remembered so that a click can name a pixel of one.
Decides the longest side, JPEG quality, and how many are remembered."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolcrib.bundled.desktop.backend import Screenshot
from toolcrib.bundled.desktop.geometry import PictureSpace
from toolcrib.bundled.desktop.records import read_enum
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.results import Image

if TYPE_CHECKING:
    import numpy

KEPT = 64
LONGEST_SIDE = 1568
"""Models scale down what is larger, and their coordinates would then miss."""
SMALLEST_SIDE = 64
JPEG_QUALITY = 80
FORMATS = {"jpeg": "jpeg", "png": "png", "tiff": "tiff", "jpg": "jpeg"}


@dataclass(frozen=True)
class EncodedPicture:
    image: Image
    width: int
    height: int
    space: PictureSpace


def encode(
    screenshot: Screenshot, image_format: str, longest: int = LONGEST_SIDE, quality: int = JPEG_QUALITY
) -> EncodedPicture:
    """Scale it down if necessary, and compress it."""
    import cv2

    height, width = screenshot.pixels.shape[:2]
    scale = min(1.0, longest / max(width, height))
    pixels = scaled(screenshot.pixels, scale)
    done, data = cv2.imencode(f".{image_format}", pixels, _options(image_format, quality))
    if not done:
        raise ToolFailure("The screenshot could not be encoded.")
    shown = pixels.shape
    return EncodedPicture(
        Image(data.tobytes(), f"image/{image_format}"),
        shown[1],
        shown[0],
        PictureSpace(screenshot.origin, scale),
    )


def scaled(pixels: numpy.ndarray, scale: float) -> numpy.ndarray:
    """Always in the same way, so that a part of one result is found in another."""
    import cv2
    import numpy

    if scale == 1:
        return pixels
    height, width = pixels.shape[:2]
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return numpy.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA))


def read_format(given: str | None, default: str) -> str:
    """`png`, `PNG` or `IMAGE_FORMAT_PNG`; raises `InvalidFormat` for another format."""
    return read_enum("format", given, "IMAGE_FORMAT", FORMATS, default)


def _options(image_format: str, quality: int) -> list[int]:
    """For speed: filters cost a PNG ten times as long as they save."""
    import cv2

    if image_format == "png":
        return [cv2.IMWRITE_PNG_COMPRESSION, 1, cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_NONE]
    return [cv2.IMWRITE_JPEG_QUALITY, quality] if image_format == "jpeg" else []


class Pictures:
    """The last screenshots by id."""

    def __init__(self) -> None:
        self._spaces: OrderedDict[str, PictureSpace] = OrderedDict()
        self._count = 0

    def add(self, space: PictureSpace) -> str:
        self._count += 1
        name = f"shot{self._count}"
        self._spaces[name] = space
        while len(self._spaces) > KEPT:
            self._spaces.popitem(last=False)
        return name

    def space(self, screenshot: str) -> PictureSpace:
        """Raises `ToolFailure` for an unknown picture."""
        found = self._spaces.get(screenshot)
        if found is None:
            raise ToolFailure(f"There is no screenshot {screenshot!r} any more.", "Take a new one.")
        return found

    def scales(self) -> Sequence[float]:
        """Of the screenshots, the latest first; each once."""
        return list(dict.fromkeys(space.scale for space in reversed(self._spaces.values())))
