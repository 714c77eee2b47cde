"""Clipboard contents in the form of the gRPC interface, and the history of what was copied: formats, largest
content, most entries, and the mark by which password managers are recognized.

A content has a type, and one field of that name. What password managers have marked is not kept.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import datetime
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated, TypedDict
from urllib.parse import quote, unquote, urlsplit

from toolcrib.bundled.desktop.backend import Backend, ClipboardContent
from toolcrib.bundled.desktop.failures import InvalidFormat, MissingField
from toolcrib.bundled.desktop.records import read_enum
from toolcrib.serverkit.context import ToolFailure

TEXT = "text/plain;charset=utf-8"
HTML, RTF, URIS, PNG = "text/html", "text/rtf", "text/uri-list", "image/png"
SECRET_HINT = "x-kde-passwordManagerHint"  # noqa: S105
"""A format that password managers add to contents which nobody should keep."""
TYPES = ("text", "rtf", "html", "image", "files", "url")
MAX_PATHS = 1000
LARGEST = 64 << 20
"""Bytes of a content that is read or written."""
PREFERRED = (PNG, URIS, HTML)
"""The formats that are read first if there is no text."""

MAX_ENTRIES = 50
LARGEST_ENTRY = 8 << 20
"""Bytes; of a larger content only the type and size are kept."""
LARGEST_TOTAL = 32 << 20
WAIT = 60.0


class FilePaths(TypedDict):
    paths: list[str]


class ContentArgument(TypedDict, total=False):
    type: Annotated[str, "text, rtf, html, image, files or url."]
    text: str
    rtf: Annotated[str, "Base64."]
    html: str
    image: Annotated[str, "A PNG picture, base64-encoded."]
    files: FilePaths
    url: str


def to_formats(content: ContentArgument) -> dict[str, bytes]:
    """The contents by media type, as other programs expect them."""
    given = [field for field in TYPES if field in content]
    kind = read_enum(
        "content.type", content.get("type"), "CONTENT_TYPE", dict(zip(TYPES, TYPES, strict=True)), ""
    )
    if len(given) != 1 or kind not in ("", given[0]):
        raise MissingField("content needs exactly one field, the one that its type names.")
    return _WRITERS[given[0]](content)


def check_size(contents: Mapping[str, bytes]) -> None:
    if sum(map(len, contents.values())) > LARGEST:
        raise ToolFailure(f"The clipboard takes at most {LARGEST >> 20} MiB.")


def is_secret(content: ClipboardContent) -> bool:
    return SECRET_HINT in content.available


def type_of(media_type: str, data: bytes) -> str:
    """One of `TYPES`, or the media type if it is none of them."""
    if media_type == URIS:
        return "files" if data.startswith(b"file:") else "url"
    if media_type.startswith("image/"):
        return "image"
    return {HTML: "html", RTF: "rtf", "application/rtf": "rtf", TEXT: "text"}.get(media_type, media_type)


def paths_of(data: bytes) -> list[str]:
    """The local files of a list of URIs."""
    lines = [line for line in data.decode("utf-8", "replace").splitlines() if line.startswith("file:")]
    return [unquote(urlsplit(line).path) for line in lines[:MAX_PATHS]]


def decode_png(encoded: str) -> bytes:
    data = _decode("image_base64", encoded)
    if not data.startswith(b"\x89PNG"):
        raise InvalidFormat("The image is not a PNG picture.", "Convert it to PNG first.")
    return data


def encode_text(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _decode(field: str, encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidFormat(f"{field} is not valid base64.") from None


def _files(paths: Sequence[str]) -> dict[str, bytes]:
    if not paths or len(paths) > MAX_PATHS or not all(PurePosixPath(path).is_absolute() for path in paths):
        raise InvalidFormat("files.paths needs full paths.", f"At most {MAX_PATHS}, such as /home/ada/a.txt.")
    uris = [f"file://{quote(path)}" for path in paths]
    return {
        URIS: encode_text("\r\n".join([*uris, ""])),
        "x-special/gnome-copied-files": encode_text("\n".join(["copy", *uris])),
        TEXT: encode_text("\n".join(paths)),
    }


def _url(url: str) -> dict[str, bytes]:
    return {URIS: encode_text(f"{url}\r\n"), TEXT: encode_text(url)}


_WRITERS: Mapping[str, Callable[[ContentArgument], dict[str, bytes]]] = {
    "text": lambda content: {TEXT: encode_text(content["text"])},
    "rtf": lambda content: {RTF: _decode("rtf", content["rtf"])},
    "html": lambda content: {HTML: encode_text(content["html"])},
    "image": lambda content: {PNG: decode_png(content["image"])},
    "files": lambda content: _files(content["files"]["paths"]),
    "url": lambda content: _url(content["url"]),
}


@dataclass(frozen=True)
class HistoryEntry:
    copied: datetime.datetime
    media_type: str
    size: int
    content: ClipboardContent | None
    """None if it was too large."""
    application: int | None
    """The process that copied it."""


class ClipboardHistory:
    """The newest first; in memory only."""

    def __init__(self) -> None:
        self._entries: deque[HistoryEntry] = deque(maxlen=MAX_ENTRIES)
        self._task: asyncio.Task[None] | None = None

    @property
    def entries(self) -> list[HistoryEntry]:
        return list(self._entries)

    def start(self, backend: Backend) -> None:
        """Watch a desktop until it closes or `stop` is called."""
        self.stop()
        self._task = asyncio.get_running_loop().create_task(self._watch(backend))

    def stop(self) -> None:
        """May be called from any thread, and after the loop has ended."""
        task, self._task = self._task, None
        if task is not None and not task.done():
            with contextlib.suppress(RuntimeError):
                task.get_loop().call_soon_threadsafe(task.cancel)

    async def _watch(self, backend: Backend) -> None:
        with backend.events.listen("clipboard") as changes:
            while backend.alive:
                change = await changes.next(WAIT)
                if change is None:
                    continue
                with contextlib.suppress(ToolFailure):  # too large, or its owner has just ended
                    self._add(await backend.clipboard.read(), change.application)

    def _add(self, found: ClipboardContent | None, application: int | None) -> None:
        if found is None or is_secret(found) or not found.data or self._is_newest(found):
            return
        kept = found if len(found.data) <= LARGEST_ENTRY else None
        now = datetime.datetime.now(datetime.UTC)
        self._entries.appendleft(HistoryEntry(now, found.media_type, len(found.data), kept, application))
        self._drop_oldest()

    def _is_newest(self, found: ClipboardContent) -> bool:
        """Some programs take the clipboard several times for one copy."""
        newest = self._entries[0] if self._entries else None
        return newest is not None and newest.content is not None and newest.content.data == found.data

    def _drop_oldest(self) -> None:
        while sum(len(entry.content.data) for entry in self._entries if entry.content) > LARGEST_TOTAL:
            self._entries.pop()
