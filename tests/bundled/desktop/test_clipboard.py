"""The clipboard with other programs: text, pictures and contents that need several parts."""

from __future__ import annotations

import asyncio
import subprocess

import pytest

from tests.bundled.desktop.conftest import Programs, eventually
from toolcrib.bundled.desktop.backend import Backend
from toolcrib.bundled.desktop.backends.x11 import open_backend
from toolcrib.bundled.desktop.clipboard_content import LARGEST, TEXT
from toolcrib.serverkit.context import ToolFailure

LARGE = ("Žluťoučký 🚀 " * 120_000).encode()


async def xclip(programs: Programs, *arguments: str, given: bytes | None = None) -> bytes:
    command = ["xclip", "-selection", "clipboard", *arguments]

    def run() -> bytes:
        output = subprocess.PIPE if given is None else subprocess.DEVNULL
        done = subprocess.run(
            command, input=given, stdout=output, env=programs.target.environment, timeout=20, check=True
        )
        return done.stdout or b""

    return await asyncio.to_thread(run)


async def holds(backend: Backend, media_type: str, data: bytes) -> None:
    """Wait for the content: xclip returns a moment before it owns the clipboard."""

    async def is_there() -> bool:
        found = await backend.clipboard.read()
        return found is not None and (found.media_type, found.data) == (media_type, data)

    await eventually(is_there, 10)


@pytest.mark.parametrize("text", ["plain", "Žluťoučký 日本 🚀\nline", ""])
async def test_other_programs_read_what_we_write(backend: Backend, programs: Programs, text: str) -> None:
    await backend.clipboard.write({TEXT: text.encode()})
    assert await xclip(programs, "-o", "-t", "UTF8_STRING") == text.encode()
    own = await backend.clipboard.read()
    assert own is not None
    assert own.text == text


async def test_we_read_what_other_programs_write(backend: Backend, programs: Programs) -> None:
    await xclip(programs, "-i", given="Ünïcode 山田".encode())
    await holds(backend, TEXT, "Ünïcode 山田".encode())


async def test_large_contents_pass_both_ways(backend: Backend, programs: Programs) -> None:
    await backend.clipboard.write({TEXT: LARGE})
    assert await xclip(programs, "-o", "-t", "UTF8_STRING") == LARGE
    await xclip(programs, "-i", given=LARGE[::-1])
    await holds(backend, TEXT, LARGE[::-1])


async def test_a_picture_is_offered_beside_its_text(backend: Backend, programs: Programs) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 2000
    await backend.clipboard.write({"image/png": picture, TEXT: b"a picture"})
    targets = (await xclip(programs, "-o", "-t", "TARGETS")).decode().split()
    assert {"image/png", "UTF8_STRING", "TARGETS"} <= set(targets)
    assert await xclip(programs, "-o", "-t", "image/png") == picture
    await xclip(programs, "-i", "-t", "image/png", given=picture)
    await holds(backend, "image/png", picture)
    assert await backend.clipboard.read("text/html") is None


async def test_two_of_us_share_a_clipboard(backend: Backend, programs: Programs) -> None:
    other = await open_backend(programs.target)
    await other.clipboard.write({TEXT: b"from the other"})
    found = await backend.clipboard.read()
    assert found is not None
    assert found.text == "from the other"
    await backend.clipboard.write({TEXT: LARGE})

    async def has_it() -> bool:
        read = await other.clipboard.read()
        return read is not None and read.data == LARGE

    await eventually(has_it)
    other.close()


async def test_a_cleared_clipboard_is_empty(backend: Backend) -> None:
    await backend.clipboard.write({TEXT: b"x"})
    await backend.clipboard.write({})
    assert await backend.clipboard.read() is None


async def test_too_much_is_refused(backend: Backend) -> None:
    with pytest.raises(ToolFailure, match="at most 64 MiB"):
        await backend.clipboard.write({TEXT: bytes(LARGEST + 1)})
