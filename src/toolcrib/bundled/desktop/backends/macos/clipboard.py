"""The clipboard of macOS, its general pasteboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolcrib.bundled.desktop.backend import ClipboardContent
from toolcrib.bundled.desktop.backends.macos.frameworks import Frameworks
from toolcrib.bundled.desktop.backends.worker import Worker
from toolcrib.serverkit.context import ToolFailure

TEXT = "text/plain;charset=utf-8"
LARGEST = 64 << 20
TYPES = {
    TEXT: "public.utf8-plain-text",
    "image/png": "public.png",
    "text/uri-list": "public.file-url",
    "text/html": "public.html",
    "text/rtf": "public.rtf",
    "image/tiff": "public.tiff",
}
"""In the order in which they are preferred."""
PNG = 4
"""NSBitmapImageFileTypePNG."""


class MacClipboard:
    def __init__(self, mac: Frameworks, worker: Worker) -> None:
        self._mac = mac
        self._worker = worker

    async def read(self, media_type: str | None = None) -> ClipboardContent | None:
        return await self._worker.run(self._read, media_type)

    async def write(self, contents: Mapping[str, bytes]) -> None:
        if sum(map(len, contents.values())) > LARGEST:
            raise ToolFailure(f"The clipboard takes at most {LARGEST >> 20} MiB.")
        await self._worker.run(self._write, dict(contents))

    def _board(self) -> Any:
        return self._mac.appkit.NSPasteboard.generalPasteboard()

    def _read(self, media_type: str | None) -> ClipboardContent | None:
        board = self._board()
        offered = media_types([str(name) for name in board.types() or ()])
        chosen = _choose(offered, media_type)
        if chosen is None:
            return None
        data = self._data(board, chosen)
        if data is None:
            return None
        if len(data) > LARGEST:
            raise ToolFailure(f"The clipboard holds more than {LARGEST >> 20} MiB.")
        return ClipboardContent(chosen, data, tuple(offered))

    def _data(self, board: Any, media_type: str) -> bytes | None:
        found = board.dataForType_(TYPES[media_type])
        if found is None and media_type == "image/png":
            tiff = board.dataForType_(TYPES["image/tiff"])
            found = self._png(tiff) if tiff is not None else None
        return bytes(found) if found is not None else None

    def _png(self, tiff: Any) -> Any:
        """Most programs copy pictures as TIFF."""
        picture = self._mac.appkit.NSBitmapImageRep.imageRepWithData_(tiff)
        return picture.representationUsingType_properties_(PNG, {}) if picture is not None else None

    def _write(self, contents: dict[str, bytes]) -> None:
        unknown = [name for name in contents if name not in TYPES]
        if unknown:
            raise ToolFailure(f"The clipboard cannot hold {unknown[0]}.", f"Use one of {', '.join(TYPES)}.")
        board = self._board()
        board.clearContents()
        for media_type, data in contents.items():
            content = self._mac.appkit.NSData.dataWithBytes_length_(data, len(data))
            if not board.setData_forType_(content, TYPES[media_type]):
                raise ToolFailure("Another program took the clipboard at the same moment.", "Try again.")


def media_types(offered: Sequence[str]) -> list[str]:
    """The pasteboard's types by media type; a TIFF picture can be read as PNG too."""
    found = [media_type for media_type, name in TYPES.items() if name in offered]
    if "image/tiff" in found and "image/png" not in found:
        found.insert(found.index("image/tiff"), "image/png")
    return found


def _choose(offered: Sequence[str], media_type: str | None) -> str | None:
    if media_type is None:
        return next(iter(offered), None)
    wanted = TEXT if media_type.startswith("text/plain") else media_type
    return wanted if wanted in offered else None
