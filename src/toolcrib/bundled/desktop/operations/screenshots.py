"""The tools for screenshots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

from toolcrib.bundled.desktop.backend import Backend
from toolcrib.bundled.desktop.choosing import choose_application
from toolcrib.bundled.desktop.failures import MissingField
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.pictures import (
    JPEG_QUALITY,
    LONGEST_SIDE,
    SMALLEST_SIDE,
    encode,
    read_format,
)
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.bundled.desktop.sight.reading import NoOcr, Reading, shared_reader
from toolcrib.bundled.desktop.sight.views import (
    Place,
    Region,
    View,
    crop,
    display_rect,
    look,
    look_at_region,
    look_at_window,
    window_at,
)
from toolcrib.bundled.desktop.tools.offer import LOOKING, Offer, answer
from toolcrib.bundled.desktop.tools.places import bounds_data, find_window
from toolcrib.bundled.desktop.tools.windows import Bounds
from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.server import ToolServer
from toolcrib.serverkit.threads import in_thread

MAX_PADDING = 500
MAX_OCR_LINES = 300
Mode = Literal["screen", "window", "region"]


class Origin(TypedDict):
    x: int
    y: int


class OcrLine(TypedDict):
    text: str
    x: int
    y: int
    bounds: Bounds
    confidence: float


class ScreenshotData(TypedDict):
    screenshot: str
    format: str
    width: int
    height: int
    origin: Origin
    scale: float
    region: Bounds
    window: int | None
    element_id: str | None
    ocr_text: str | None
    ocr_lines: list[OcrLine]


@dataclass(frozen=True)
class Wish:
    """How a screenshot is to be delivered."""

    format: str
    quality: int = 0
    longest_side: int = LONGEST_SIDE
    ocr: bool = False
    languages: str = "eng"
    element_id: str | None = None


class ScreenshotTools:
    def __init__(self, session: DesktopSession) -> None:
        self._session = session

    async def take_screenshot(
        self,
        context: ToolContext,
        mode: Mode | None = None,
        app_name: str | None = None,
        include_ocr: bool = False,
        window: int | str | None = None,
        region: Region | None = None,
        display: int | None = None,
        format: str = "jpeg",  # noqa: A002
        quality: int = 0,
        longest_side: int = LONGEST_SIDE,
        language: str = "eng",
    ) -> ScreenshotData:
        wish = Wish(read_format(format, "jpeg"), quality, longest_side, include_ocr, language)
        backend = await self._session.backend(context)
        view = await self._view(backend, mode, app_name, window, region, display)
        return await self._deliver(view, wish)

    async def capture_screenshot(
        self,
        context: ToolContext,
        format: str = "png",  # noqa: A002
        quality: int = 0,
        display: int | None = None,
        include_ocr_text: bool = False,
        longest_side: int = LONGEST_SIDE,
        language: str = "eng",
    ) -> ScreenshotData:
        wish = Wish(read_format(format, "png"), quality, longest_side, include_ocr_text, language)
        backend = await self._session.backend(context)
        [view] = await look(backend, self._session.pictures, Place(display=display))
        return await self._deliver(view, wish)

    async def capture_window_screenshot(
        self,
        window: int | str,
        context: ToolContext,
        format: str = "png",  # noqa: A002
        quality: int = 0,
        include_shadow: bool = False,
        include_ocr_text: bool = False,
        longest_side: int = LONGEST_SIDE,
        language: str = "eng",
    ) -> ScreenshotData:
        wish = Wish(read_format(format, "png"), quality, longest_side, include_ocr_text, language)
        backend = await self._session.backend(context)
        view = await self._view(backend, "window", None, window, None, None)
        return await self._deliver(view, wish)

    async def capture_element_screenshot(
        self,
        element_id: str,
        context: ToolContext,
        parent: str | None = None,
        format: str = "png",  # noqa: A002
        quality: int = 0,
        padding: int = 0,
        include_ocr_text: bool = False,
        longest_side: int = LONGEST_SIDE,
        language: str = "eng",
    ) -> ScreenshotData:
        name = element_id.rpartition("/")[2]
        wish = Wish(read_format(format, "png"), quality, longest_side, include_ocr_text, language, name)
        backend = await self._session.backend(context)
        return await self._deliver(await self._element(backend, name, parent, padding), wish)

    async def capture_region_screenshot(
        self,
        region: Region,
        context: ToolContext,
        format: str = "png",  # noqa: A002
        quality: int = 0,
        display: int | None = None,
        include_ocr_text: bool = False,
        longest_side: int = LONGEST_SIDE,
        language: str = "eng",
    ) -> ScreenshotData:
        wish = Wish(read_format(format, "png"), quality, longest_side, include_ocr_text, language)
        backend = await self._session.backend(context)
        view = await look_at_region(backend, self._session.pictures, region)
        rect = await display_rect(backend, display)
        return await self._deliver(view if rect is None else crop(view, rect), wish)

    async def _view(
        self,
        backend: Backend,
        mode: Mode | None,
        app_name: str | None,
        window: int | str | None,
        region: Region | None,
        display: int | None,
    ) -> View:
        chosen = mode or _implied_mode(app_name, window, region)
        if chosen == "screen":
            return (await look(backend, self._session.pictures, Place(display=display)))[0]
        if chosen == "region" and region is None:
            raise MissingField("The mode region needs a region.", "Give region with x, y, width and height.")
        named = window is not None or app_name is not None or chosen == "window"
        target = await find_window(backend, app_name, window) if named else None
        place = Place(window=target, region=region if chosen == "region" else None)
        return (await look(backend, self._session.pictures, place))[0]

    async def _element(self, backend: Backend, name: str, parent: str | None, padding: int) -> View:
        snapshot, element = await self._session.snapshots.resolve(backend, name)
        process = snapshot.tree.application
        if parent and not parent.endswith("/-") and await choose_application(backend, parent) != process:
            raise ToolFailure(
                f"{name} is not an element of {parent}.", f"It belongs to application {process}."
            )
        if element.rect is None or element.rect.is_empty:
            raise ToolFailure(f"{name} is not on the screen.", "Open the menu, tab or page it is in.")
        rect = _grown(element.rect, min(max(0, padding), MAX_PADDING))
        own = [each for each in await backend.windows.list() if each.application == process]
        window = window_at(own, element.rect.centre)
        if window is None:  # an open menu is no window of its own
            return View(await backend.capture.screen(rect))
        return crop(await look_at_window(backend, window), rect)

    async def _deliver(self, view: View, wish: Wish) -> ScreenshotData:
        longest = min(max(wish.longest_side, SMALLEST_SIDE), LONGEST_SIDE * 4)
        quality = min(max(1, wish.quality), 100) if wish.quality else JPEG_QUALITY
        picture = await in_thread(encode, view.screenshot, wish.format, longest, quality)
        name = self._session.pictures.add(picture.space)
        lines, notes = await _read(view, wish) if wish.ocr else (None, [])
        origin, scale = picture.space.origin, picture.space.scale
        data: ScreenshotData = {
            "screenshot": name,
            "format": wish.format,
            "width": picture.width,
            "height": picture.height,
            "origin": {"x": origin.x, "y": origin.y},
            "scale": round(scale, 6),
            "region": bounds_data(view.rect),
            "window": view.window.id if view.window is not None else None,
            "element_id": wish.element_id,
            "ocr_text": None if lines is None else "\n".join(line["text"] for line in lines),
            "ocr_lines": (lines or [])[:MAX_OCR_LINES],
        }
        text = (
            f"{name}: {picture.width}x{picture.height} pixels. Screen position of a pixel: "
            f"x/{scale:.4g}+{origin.x}, y/{scale:.4g}+{origin.y}."
        )
        return answer(data, "\n".join([text, *notes]), picture.image)


def offer_tools(server: ToolServer, session: DesktopSession, wanted: frozenset[str] | None) -> None:
    tools, offer = ScreenshotTools(session), Offer(server, wanted)
    offer(tools.take_screenshot, "Take a screenshot", **LOOKING)
    offer(tools.capture_screenshot, "Capture the screen", **LOOKING)
    offer(tools.capture_window_screenshot, "Capture a window", **LOOKING)
    offer(tools.capture_element_screenshot, "Capture an element", **LOOKING)
    offer(tools.capture_region_screenshot, "Capture a region", **LOOKING)


def _implied_mode(app_name: str | None, window: int | str | None, region: Region | None) -> Mode:
    if region is not None:
        return "region"
    return "screen" if window is None and app_name is None else "window"


async def _read(view: View, wish: Wish) -> tuple[list[OcrLine] | None, list[str]]:
    """The lines of text, and what to tell the model; a missing engine does not cost the picture."""
    try:
        reading = await shared_reader().read(view.screenshot.pixels, wish.languages)
    except NoOcr as problem:
        return None, [f"Text was not read: {problem.message} {problem.hint}"]
    lines = ocr_lines(reading, view)
    shown = [f"{line['text']} @ {line['x']},{line['y']}" for line in lines[:MAX_OCR_LINES]]
    notes = ["Text, with the screen position of each line:", *shown] if shown else ["No text was found."]
    if len(lines) > MAX_OCR_LINES:
        notes.append(f"… {len(lines) - MAX_OCR_LINES} more lines; choose a region.")
    if not reading.complete:
        notes.append("Incomplete: the time for OCR was over.")
    return lines, notes


def ocr_lines(reading: Reading, view: View) -> list[OcrLine]:
    origin = view.screenshot.origin
    found: list[OcrLine] = []
    for line in reading.lines:
        rect = line.rect.moved(origin.x, origin.y)
        found.append(
            {
                "text": line.text,
                "x": rect.centre.x,
                "y": rect.centre.y,
                "bounds": bounds_data(rect),
                "confidence": round(line.confidence, 2),
            }
        )
    return found


def _grown(rect: Rect, by: int) -> Rect:
    return Rect(rect.x - by, rect.y - by, rect.width + 2 * by, rect.height + 2 * by)
