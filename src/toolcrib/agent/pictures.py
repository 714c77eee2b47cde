"""Reads pictures that a user attaches; their type is detected from the content."""

from __future__ import annotations

import base64

from toolcrib.errors import UsageError
from toolcrib.llm.pictures import LARGEST, NoPicture, checked, damage, kind_of
from toolcrib.schema.messages import Image


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
