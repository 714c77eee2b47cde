"""Screenshots and the clipboard of a remote desktop."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolcrib.bundled.desktop.backend import ClipboardContent, Screenshot
from toolcrib.bundled.desktop.backends.remote.connection import GrpcConnection
from toolcrib.bundled.desktop.backends.remote.windows import RemoteWindows
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.bundled.desktop.grpc.messages import region_message
from toolcrib.bundled.desktop.grpc.schema import v1
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.threads import in_thread

TEXT = "text/plain;charset=utf-8"
_MEDIA = {
    "text": TEXT,
    "url": TEXT,
    "html": "text/html",
    "rtf": "text/rtf",
    "image": "image/png",
    "files": "text/uri-list",
}


class RemoteCapture:
    def __init__(self, connection: GrpcConnection, windows: RemoteWindows) -> None:
        self._connection = connection
        self._windows = windows

    async def screen(self, rect: Rect | None = None) -> Screenshot:
        png = v1.ImageFormat.IMAGE_FORMAT_PNG
        if rect is None:
            response = await self._connection.call(
                "CaptureScreenshot", v1.CaptureScreenshotRequest(format=png)
            )
            return Screenshot(await in_thread(decode, response.image_data), Point(0, 0))
        request = v1.CaptureRegionScreenshotRequest(region=region_message(rect), format=png)
        response = await self._connection.call("CaptureRegionScreenshot", request)
        origin = Point(round(response.region.x), round(response.region.y))
        return Screenshot(await in_thread(decode, response.image_data), origin)

    async def window(self, window: int) -> Screenshot:
        request = v1.CaptureWindowScreenshotRequest(
            window=await self._windows.name_of(window), format=v1.ImageFormat.IMAGE_FORMAT_PNG
        )
        response, place = await asyncio.gather(
            self._connection.call("CaptureWindowScreenshot", request), self._windows.get(window)
        )
        return Screenshot(await in_thread(decode, response.image_data), Point(place.rect.x, place.rect.y))


def decode(data: bytes) -> Any:
    import cv2
    import numpy

    pixels = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_COLOR) if data else None
    if pixels is None:
        raise ToolFailure("The desktop server sent a picture that cannot be read.")
    return pixels


class RemoteClipboard:
    def __init__(self, connection: GrpcConnection) -> None:
        self._connection = connection

    async def read(self, media_type: str | None = None) -> ClipboardContent | None:
        response = await self._connection.call("GetClipboard", v1.GetClipboardRequest(name="clipboard"))
        kind = response.content.WhichOneof("content")
        if kind is None:
            return None
        available = tuple(_available(response.available_types)) or (_MEDIA[kind],)
        found = ClipboardContent(_MEDIA[kind], _data(response.content, kind), available)
        if media_type is None or _same(media_type, found.media_type):
            return found
        if not any(_same(media_type, each) for each in available):
            return None
        raise ToolFailure(
            f"A remote desktop server hands over the clipboard only as {found.media_type}.",
            "Read it without naming a format.",
        )

    async def write(self, contents: Mapping[str, bytes]) -> None:
        if not contents:
            await self._connection.call("ClearClipboard", v1.ClearClipboardRequest())
            return
        if len(contents) > 1:
            raise ToolFailure(
                "A remote desktop server takes one format of the clipboard.", "Write only one of them."
            )
        [(media_type, data)] = contents.items()
        request = v1.WriteClipboardRequest(content=_content(media_type, data), clear_existing=True)
        await self._connection.call("WriteClipboard", request)


def _same(one: str, other: str) -> bool:
    return one.partition(";")[0] == other.partition(";")[0]


def _available(numbers: Any) -> list[str]:
    names = [v1.ContentType.Name(each).removeprefix("CONTENT_TYPE_").lower() for each in numbers]
    return [_MEDIA[name] for name in names if name in _MEDIA]


def _data(content: Any, kind: str) -> bytes:
    if kind == "files":
        return "".join(f"{Path(path).as_uri()}\r\n" for path in content.files.paths).encode()
    value = getattr(content, kind)
    return value if isinstance(value, bytes) else str(value).encode()


def _content(media_type: str, data: bytes) -> Any:
    kinds = {_MEDIA[kind]: kind for kind in ("html", "rtf", "image")}
    kind = "text" if media_type.startswith("text/plain") else kinds.get(media_type)
    if kind is None:
        raise ToolFailure(
            f"A remote desktop server cannot take {media_type}.", "Use text, HTML, RTF or a PNG picture."
        )
    made = v1.ClipboardContent(type=v1.ContentType.Value(f"CONTENT_TYPE_{kind.upper()}"))
    setattr(made, kind, data if kind in ("rtf", "image") else data.decode("utf-8", "replace"))
    return made
