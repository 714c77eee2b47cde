"""The clipboard of Windows."""

from __future__ import annotations

import contextlib
import ctypes
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PureWindowsPath

from toolcrib.bundled.desktop.backend import ClipboardContent
from toolcrib.bundled.desktop.backends.windows.api import WindowsApi
from toolcrib.bundled.desktop.backends.windows.clipboard_formats import (
    bitmap_from_png,
    pack_html,
    png_from_bitmap,
    unpack_html,
)
from toolcrib.bundled.desktop.backends.worker import Worker
from toolcrib.serverkit.context import ToolFailure

TEXT = "text/plain;charset=utf-8"
UNICODE_TEXT, BITMAP, FILES = 13, 8, 15
"""CF_UNICODETEXT, CF_DIB, CF_HDROP."""
MOVEABLE = 2
LARGEST = 64 << 20
LONGEST_PATH = 32768
MOST_FILES = 10_000
COUNT = 0xFFFFFFFF
PATIENCE = 1.0
POLL = 0.02


class Win32Clipboard:
    def __init__(self, api: WindowsApi, worker: Worker) -> None:
        self._api = api
        self._worker = worker

    async def read(self, media_type: str | None = None) -> ClipboardContent | None:
        return await self._worker.run(self._read, media_type)

    async def write(self, contents: Mapping[str, bytes]) -> None:
        if sum(map(len, contents.values())) > LARGEST:
            raise ToolFailure(f"The clipboard takes at most {LARGEST >> 20} MiB.")
        await self._worker.run(self._write, dict(contents))

    def _read(self, media_type: str | None) -> ClipboardContent | None:
        with self._opened():
            offered = self._offered()
            chosen = _choose(list(offered), media_type)
            data = self._content(chosen, offered[chosen]) if chosen is not None else None
        if chosen is None or data is None:
            return None
        return ClipboardContent(chosen, data, tuple(offered))

    def _write(self, contents: dict[str, bytes]) -> None:
        made = [each for media_type, data in contents.items() for each in self._encoded(media_type, data)]
        with self._opened():
            self._api.user32.EmptyClipboard()
            for number, data in made:
                self._put(number, data)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[None]:
        """Only one program can have it open."""
        deadline = time.monotonic() + PATIENCE
        while not self._api.user32.OpenClipboard(None):
            if time.monotonic() > deadline:
                raise ToolFailure("Another program keeps the clipboard open.", "Try again later.")
            time.sleep(POLL)
        try:
            yield
        finally:
            self._api.user32.CloseClipboard()

    def _offered(self) -> dict[str, int]:
        """The best format for each media type."""
        formats: list[int] = []
        while (number := self._api.user32.EnumClipboardFormats(formats[-1] if formats else 0)) != 0:
            formats.append(number)
        known = {
            TEXT: (UNICODE_TEXT,),
            "image/png": (self._format("PNG"), BITMAP),
            "text/uri-list": (FILES,),
            "text/html": (self._format("HTML Format"),),
        }
        best = {name: [each for each in numbers if each in formats] for name, numbers in known.items()}
        return {name: numbers[0] for name, numbers in best.items() if numbers}

    def _format(self, name: str) -> int:
        return int(self._api.user32.RegisterClipboardFormatW(name))

    def _content(self, media_type: str, number: int) -> bytes | None:
        handle = self._api.user32.GetClipboardData(number)
        if not handle:
            return None
        if number == FILES:
            return "\r\n".join(self._files(handle)).encode()
        data = self._bytes(handle)
        if number == UNICODE_TEXT:
            text = data[: len(data) // 2 * 2].decode("utf-16-le", "replace").partition("\0")[0]
            return text.replace("\r\n", "\n").encode()
        if number == BITMAP:
            return png_from_bitmap(data)
        return unpack_html(data) if media_type == "text/html" else data

    def _files(self, handle: int) -> list[str]:
        query = self._api.shell32.DragQueryFileW
        count = min(query(handle, COUNT, None, 0), MOST_FILES)
        buffer = ctypes.create_unicode_buffer(LONGEST_PATH)
        found = []
        for index in range(count):
            query(handle, index, buffer, LONGEST_PATH)
            found.append(PureWindowsPath(buffer.value).as_uri())
        return found

    def _bytes(self, handle: int) -> bytes:
        kernel = self._api.kernel32
        size = kernel.GlobalSize(handle)
        if size > LARGEST * 2:  # text has two bytes for each character
            raise ToolFailure(f"The clipboard holds more than {LARGEST >> 20} MiB.")
        place = kernel.GlobalLock(handle)
        if not place:
            return b""
        try:
            return ctypes.string_at(place, size)
        finally:
            kernel.GlobalUnlock(handle)

    def _put(self, number: int, data: bytes) -> None:
        kernel = self._api.kernel32
        handle = kernel.GlobalAlloc(MOVEABLE, len(data))
        place = kernel.GlobalLock(handle) if handle else None
        if not place:
            raise ToolFailure("Windows has no memory for the clipboard.", "Write less.")
        ctypes.memmove(place, data, len(data))
        kernel.GlobalUnlock(handle)
        if not self._api.user32.SetClipboardData(number, handle):
            kernel.GlobalFree(handle)  # it would belong to the system only after a success
            raise ToolFailure("Windows refused the content of the clipboard.", "Try again.")

    def _encoded(self, media_type: str, data: bytes) -> list[tuple[int, bytes]]:
        """The formats that programs paste for a media type."""
        if media_type.startswith("text/plain"):
            text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\n", "\r\n")
            return [(UNICODE_TEXT, (text + "\0").encode("utf-16-le", "surrogatepass"))]
        if media_type == "text/html":
            return [(self._format("HTML Format"), pack_html(data) + b"\0")]
        if media_type == "image/png":
            bitmap = bitmap_from_png(data)
            return [(self._format("PNG"), data), *([(BITMAP, bitmap)] if bitmap is not None else [])]
        raise ToolFailure(f"The clipboard cannot hold {media_type}.", "Use text, HTML or a PNG picture.")


def _choose(offered: Sequence[str], media_type: str | None) -> str | None:
    if media_type is None:
        return next(iter(offered), None)
    wanted = TEXT if media_type.startswith("text/plain") else media_type
    return wanted if wanted in offered else None
