"""Pictures that a user attaches: known by what they hold, not by what they are called."""

from __future__ import annotations

import base64

from toolcrib.errors import UsageError
from toolcrib.llm.pictures import LARGEST, NoPicture, checked, damage, kind_of
from toolcrib.schema.messages import Image


def read_picture(data: bytes) -> Image:
    """The picture for a message; raises `UsageError` for what models do not take."""
    mime = kind_of(data)
    if not mime:
        raise UsageError("That is no picture.", hint="PNG, JPEG, GIF and WebP can be sent.")
    encoded = base64.b64encode(data).decode()
    if len(encoded) > LARGEST:
        most = LARGEST * 3 / 4 / 1e6
        raise UsageError(
            f"The picture has {len(data) / 1e6:.1f} MB; models take {most:.2f}.", hint="Make it smaller."
        )
    wrong = damage(data, mime)
    if wrong is not None:
        raise _unusable(wrong)
    return Image(encoded, mime)


def attached_picture(data: str, mime: str) -> Image:
    """The picture of a message that came as base64; raises `UsageError` for what models do not take."""
    found = checked(data, mime)
    if isinstance(found, NoPicture):
        raise _unusable(found)
    return found


def _unusable(wrong: NoPicture) -> UsageError:
    return UsageError(
        f"The picture cannot be sent: {wrong.why}.", hint="Attach a whole PNG, JPEG, GIF or WebP."
    )
