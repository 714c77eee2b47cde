"""Checks pictures before they are sent: formats (PNG, JPEG, GIF, WebP), largest size in bytes and pixels,
damage, with the error messages.

Vendors reject the whole request for one picture that is damaged or has the wrong type.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import re
from dataclasses import dataclass

from toolcrib.errors import UsageError
from toolcrib.schema.messages import Image

LARGEST = 5_000_000
"""Characters of base64; the strictest vendor accepts 5 MB."""
LARGEST_SIDE = 8000
"""Pixels; Anthropic rejects more."""
_BEGINNINGS = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))
_DATA_URL = re.compile(r"\s*data:[^,]{0,100};base64,")
_URL_SAFE = str.maketrans("-_", "+/")
_NO_SIZE = frozenset({0x01, *range(0xD0, 0xDA)})
"""JPEG markers without a length."""
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers with the size of the picture."""


@dataclass(frozen=True)
class NoPicture:
    """Why data cannot be sent as a picture."""

    why: str


_TOO_LARGE = NoPicture(f"it is larger than {LARGEST * 3 / 4 / 1e6:.2f} MB")


def checked(data: str, mime: str = "") -> Image | NoPicture:
    """The picture with its real type, or why it cannot be sent."""
    if len(data) > LARGEST * 1.1:  # Allows for line breaks.
        return _TOO_LARGE
    found = _decode(data)
    if found is None:
        return NoPicture("its base64 is invalid")
    encoded, raw = found
    kind = kind_of(raw)
    if not kind:
        return NoPicture(f"it is declared as {mime[:40] or 'a picture'} but is not a PNG, JPEG, GIF or WebP")
    return damage(raw, kind) or Image(encoded, kind)


def kind_of(data: bytes) -> str:
    """A picture's type by its first bytes; empty if models do not accept it."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for beginning, mime in _BEGINNINGS if data.startswith(beginning)), "")


def _decode(data: str) -> tuple[str, bytes] | None:
    """Valid base64 and its bytes."""
    with contextlib.suppress(ValueError):
        return data, binascii.a2b_base64(data, strict_mode=True)
    # Line breaks, a data URL prefix, the URL-safe alphabet and missing padding are fixed.
    plain = "".join(_DATA_URL.sub("", data, count=1).split()).translate(_URL_SAFE).rstrip("=")
    plain += "=" * (-len(plain) % 4)
    with contextlib.suppress(ValueError):
        return plain, binascii.a2b_base64(plain, strict_mode=True)
    return None


def damage(raw: bytes, kind: str) -> NoPicture | None:
    """What is wrong with a picture of this type, if anything."""
    if len(raw) * 4 > LARGEST * 3:
        return _TOO_LARGE
    if raw[12:16] == b"IHDR" and b"IEND" not in raw[-64:]:
        return NoPicture("it is incomplete")
    size = size_of(raw, kind)
    if size is None:
        return None
    if min(size) == 0:
        return NoPicture("it has no pixels")
    if max(size) > LARGEST_SIDE:
        return NoPicture(f"it has {size[0]} by {size[1]} pixels; the limit is {LARGEST_SIDE}")
    return None


def size_of(raw: bytes, kind: str) -> tuple[int, int] | None:
    """Width and height in pixels; None if unknown."""
    if kind == "image/png" and raw[12:16] == b"IHDR" and len(raw) >= 24:
        return int.from_bytes(raw[16:20]), int.from_bytes(raw[20:24])
    if kind == "image/gif" and len(raw) > 13:
        return int.from_bytes(raw[6:8], "little"), int.from_bytes(raw[8:10], "little")
    if kind == "image/webp" and raw[12:16] == b"VP8X" and len(raw) >= 30:
        return int.from_bytes(raw[24:27], "little") + 1, int.from_bytes(raw[27:30], "little") + 1
    return _jpeg_size(raw) if kind == "image/jpeg" else None


def _jpeg_size(raw: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(raw) and raw[at] == 0xFF:
        marker = raw[at + 1]
        if marker in _FRAMES:
            return int.from_bytes(raw[at + 7 : at + 9]), int.from_bytes(raw[at + 5 : at + 7])
        at += 1 if marker == 0xFF else 2 if marker in _NO_SIZE else 2 + int.from_bytes(raw[at + 2 : at + 4])
    return None


def read_picture(data: bytes) -> Image:
    """The picture for a message; raises `UsageError` for unsupported ones."""
    mime = kind_of(data)
    if not mime:
        raise UsageError("This is not a picture.", hint="Supported formats: PNG, JPEG, GIF and WebP.")
    encoded = base64.b64encode(data).decode()
    if len(encoded) > LARGEST:
        most = LARGEST * 3 / 4 / 1e6
        raise UsageError(
            f"The picture has {len(data) / 1e6:.1f} MB; the limit is {most:.2f} MB.", hint="Make it smaller."
        )
    wrong = damage(data, mime)
    if wrong is not None:
        raise _unusable(wrong)
    return Image(encoded, mime)


def attached_picture(data: str, mime: str) -> Image:
    """The same for a picture in base64."""
    found = checked(data, mime)
    if isinstance(found, NoPicture):
        raise _unusable(found)
    return found


def _unusable(wrong: NoPicture) -> UsageError:
    return UsageError(
        f"The picture cannot be sent: {wrong.why}.", hint="Attach a complete PNG, JPEG, GIF or WebP."
    )
