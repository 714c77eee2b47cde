"""Decodes pictures that a caller sends; their size is read from the header before anything is decoded. Limits
for bytes and pixels, accepted formats (PNG, JPEG, WebP), and errors for transparent or incomplete
pictures."""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from toolcrib.serverkit.context import ToolFailure

if TYPE_CHECKING:
    import numpy

MAX_BYTES = 16 * 1024 * 1024
MAX_SIDE = 16_384
MAX_PIXELS = 34_000_000
"""A little more than an 8K screen."""
OPAQUE = 250
Size = tuple[int, int]


class InvalidPicture(ToolFailure):
    """Not a picture that can be searched for."""

    kind = "invalid_picture"
    reason = "INVALID_FORMAT"


def decode_picture(encoded: str) -> numpy.ndarray:
    """The pixels (height x width x 3, blue first) of a PNG, JPEG or WebP; raises `InvalidPicture`."""
    data = _decode_base64(encoded)
    width, height = picture_size(data)
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE and width * height <= MAX_PIXELS):
        raise InvalidPicture(
            f"The picture has {width}x{height} pixels, which is too large.", "Cut out the part to search for."
        )
    return _pixels(data)


def picture_size(data: bytes) -> Size:
    """Width and height as the header has them."""
    for start, read in _READERS:
        if data.startswith(start):
            try:
                return read(data)
            except (struct.error, IndexError, StopIteration):
                raise InvalidPicture("The picture is damaged.", "Send a complete PNG or JPEG file.") from None
    raise InvalidPicture("This is not a PNG, JPEG or WebP picture.", "Send one of these in base64.")


def _decode_base64(encoded: str) -> bytes:
    text = encoded.strip()
    if text.startswith("data:"):
        text = text.partition(",")[2]
    if len(text) > MAX_BYTES * 4 // 3 + 4:
        raise InvalidPicture(
            f"The picture is larger than {MAX_BYTES // 1024 // 1024} MiB.", "Cut out a part."
        )
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidPicture("The picture is not valid base64.", "Send the file's bytes in base64.") from None


def _pixels(data: bytes) -> numpy.ndarray:
    import cv2
    import numpy

    try:
        decoded = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_UNCHANGED)
    except cv2.error:
        decoded = None
    if decoded is None:
        raise InvalidPicture("The picture cannot be decoded.", "Send a complete PNG or JPEG file.")
    if decoded.dtype == numpy.uint16:
        decoded = (decoded // 257).astype(numpy.uint8)
    if decoded.ndim == 2:
        return numpy.asarray(cv2.cvtColor(decoded, cv2.COLOR_GRAY2BGR))
    if decoded.shape[2] == 4:
        if (decoded[:, :, 3] < OPAQUE).any():
            raise InvalidPicture(
                "The picture has transparent pixels.", "Cut it out of a screenshot, with its background."
            )
        return numpy.ascontiguousarray(decoded[:, :, :3])
    return numpy.asarray(decoded)


def _png(data: bytes) -> Size:
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _jpeg(data: bytes) -> Size:
    return next(_jpeg_sizes(data))


def _jpeg_sizes(data: bytes) -> Iterator[Size]:
    """From the start-of-frame segments."""
    at = 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            return
        kind = data[at + 1]
        if kind == 0xFF or 0xD0 <= kind <= 0xD8 or kind == 0x01:  # padding, or a marker without length
            at += 1 if kind == 0xFF else 2
            continue
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            yield width, height
        at += 2 + struct.unpack_from(">H", data, at + 2)[0]


def _webp(data: bytes) -> Size:
    if data[8:12] != b"WEBP":
        raise IndexError
    kind = data[12:16]
    if kind == b"VP8X":
        return _from_24_bits(data, 24), _from_24_bits(data, 27)
    if kind == b"VP8L":
        bits = struct.unpack_from("<I", data, 21)[0]
        return (bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1
    width, height = struct.unpack_from("<HH", data, 26)
    return width & 0x3FFF, height & 0x3FFF


def _from_24_bits(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 3], "little") + 1


_READERS: tuple[tuple[bytes, Callable[[bytes], Size]], ...] = (
    (b"\x89PNG\r\n\x1a\n", _png),
    (b"\xff\xd8", _jpeg),
    (b"RIFF", _webp),
)
