"""Pictures that a person attaches: told by what they are, not by what they are called."""

from __future__ import annotations

import base64

from toolcrib.agent.results import LARGEST_PICTURE
from toolcrib.errors import UsageError
from toolcrib.schema.messages import Image

_BEGINNINGS = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))


def read_picture(data: bytes) -> Image:
    """The picture for a message; raises `UsageError` for what models do not take."""
    mime = _kind(data)
    if not mime:
        raise UsageError("That is no picture.", hint="PNG, JPEG, GIF and WebP can be sent.")
    encoded = base64.b64encode(data).decode()
    if len(encoded) > LARGEST_PICTURE:
        most = LARGEST_PICTURE * 3 / 4 / 1e6
        raise UsageError(
            f"The picture has {len(data) / 1e6:.1f} MB; models take {most:.2f}.", hint="Make it smaller."
        )
    return Image(encoded, mime)


def _kind(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for beginning, mime in _BEGINNINGS if data.startswith(beginning)), "")
