"""Pictures are known by what they hold."""

from __future__ import annotations

import base64

import pytest

from toolcrib.errors import UsageError
from toolcrib.llm.pictures import read_picture


@pytest.mark.parametrize(
    ("data", "mime"),
    [
        (b"\x89PNG\r\n\x1a\nrest", "image/png"),
        (b"\xff\xd8\xff\xe0rest", "image/jpeg"),
        (b"GIF89arest", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPrest", "image/webp"),
    ],
)
def test_a_picture_is_known_by_its_beginning(data: bytes, mime: str) -> None:
    picture = read_picture(data)

    assert picture.mime == mime
    assert base64.b64decode(picture.data) == data


@pytest.mark.parametrize("data", [b"", b"<svg/>", b"%PDF-1.7", b"RIFF\x00\x00\x00\x00WAVE"])
def test_what_models_do_not_take_is_refused(data: bytes) -> None:
    with pytest.raises(UsageError, match="not a picture"):
        read_picture(data)


def test_a_picture_that_is_too_large_is_refused() -> None:
    with pytest.raises(UsageError, match=r"4\.0 MB"):
        read_picture(b"\x89PNG\r\n\x1a\n" + bytes(4_000_000))
