"""Screenshots in full size, as PNG, JPEG or TIFF."""

from __future__ import annotations

from typing import Any

from toolcrib.bundled.desktop.backend import Backend, Screenshot
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.grpc.failures import RpcFailure, invalid, not_found
from toolcrib.bundled.desktop.grpc.messages import rect_of, region_message
from toolcrib.bundled.desktop.grpc.names import parent_of, window_of
from toolcrib.bundled.desktop.grpc.schema import v1
from toolcrib.bundled.desktop.grpc.served import ServedDesktop
from toolcrib.bundled.desktop.resources import window_name
from toolcrib.bundled.desktop.sight.reading import shared_reader
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.threads import in_thread

DEFAULT_QUALITY = 80
LARGEST_PADDING = 1000


class ScreenshotMethods:
    def __init__(self, desktop: ServedDesktop) -> None:
        self._desktop = desktop

    async def capture_screenshot(self, request: Any) -> Any:
        backend = await self._desktop.backend()
        rect = await _display_rect(backend, request.display) if request.display else None
        taken = await backend.capture.screen(rect)
        return v1.CaptureScreenshotResponse(**await _encoded(taken, request))

    async def capture_window_screenshot(self, request: Any) -> Any:
        backend = await self._desktop.backend()
        window = await self._desktop.window(backend, window_of(request.window, "window"))
        taken = await backend.capture.window(window.id)
        return v1.CaptureWindowScreenshotResponse(
            window=window_name(window.application, window.id), **await _encoded(taken, request)
        )

    async def capture_element_screenshot(self, request: Any) -> Any:
        backend = await self._desktop.backend()
        parent_of(request.parent)
        _, element = await self._desktop.session.snapshots.resolve(backend, request.element_id)
        if element.rect is None or element.rect.is_empty:
            raise ToolFailure("The element is not on the screen.", "Open the menu, tab or page it is in.")
        if not 0 <= request.padding <= LARGEST_PADDING:
            raise invalid("OUT_OF_RANGE", f"padding is 0 to {LARGEST_PADDING}.", "padding")
        rect, by = element.rect, request.padding
        taken = await backend.capture.screen(
            Rect(rect.x - by, rect.y - by, rect.width + 2 * by, rect.height + 2 * by)
        )
        return v1.CaptureElementScreenshotResponse(
            element_id=request.element_id, **await _encoded(taken, request)
        )

    async def capture_region_screenshot(self, request: Any) -> Any:
        backend = await self._desktop.backend()
        region = rect_of(request.region)
        if request.display:
            frame = await _display_rect(backend, request.display)
            region = region.moved(frame.x, frame.y)
        if region.is_empty:
            raise invalid("OUT_OF_RANGE", "The region is empty.", "region")
        taken = await backend.capture.screen(region)
        height, width = taken.pixels.shape[:2]
        shown = region_message(Rect(taken.origin.x, taken.origin.y, width, height))
        return v1.CaptureRegionScreenshotResponse(region=shown, **await _encoded(taken, request))


def offer_methods(desktop: ServedDesktop) -> ScreenshotMethods:
    return ScreenshotMethods(desktop)


async def _display_rect(backend: Backend, display: int) -> Rect:
    for each in await backend.displays.list():
        if each.id == display:
            return each.rect
    raise not_found("DISPLAY", f"displays/{display}")


async def _encoded(taken: Screenshot, request: Any) -> dict[str, Any]:
    """The fields that all responses have."""
    text = (await shared_reader().read(taken.pixels)).text if request.include_ocr_text else ""
    height, width = taken.pixels.shape[:2]
    used = request.format or v1.ImageFormat.IMAGE_FORMAT_PNG
    data = await in_thread(_encode, taken, used, request.quality)
    return {"image_data": data, "format": used, "width": width, "height": height, "ocr_text": text}


def _encode(taken: Screenshot, image_format: int, quality: int) -> bytes:
    import cv2

    # For speed: filters cost a PNG ten times as long as they save.
    fast = [cv2.IMWRITE_PNG_COMPRESSION, 1, cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_NONE]
    extensions = {
        v1.ImageFormat.IMAGE_FORMAT_PNG: (".png", fast),
        v1.ImageFormat.IMAGE_FORMAT_JPEG: (".jpg", [cv2.IMWRITE_JPEG_QUALITY, _checked(quality)]),
        v1.ImageFormat.IMAGE_FORMAT_TIFF: (".tiff", []),
    }
    if image_format not in extensions:
        raise invalid("INVALID_FORMAT", "The format is PNG, JPEG or TIFF.", "format")
    extension, options = extensions[image_format]
    done, data = cv2.imencode(extension, taken.pixels, options)
    if not done:
        raise _not_encoded()
    return bytes(data.tobytes())


def _checked(quality: int) -> int:
    if not 0 <= quality <= 100:
        raise invalid("OUT_OF_RANGE", "quality is 1 to 100.", "quality")
    return quality or DEFAULT_QUALITY


def _not_encoded() -> RpcFailure:
    import grpc

    return RpcFailure(grpc.StatusCode.INTERNAL, "SERIALIZATION_FAILED", "The picture could not be encoded.")
