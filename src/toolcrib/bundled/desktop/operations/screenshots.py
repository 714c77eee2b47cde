"""Tools for screenshots: for a model reduced, with the place of each pixel; over gRPC in full size. Decides
what is shown without a mode, padding around an element, and how many lines of recognized text (OCR)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from toolcrib.bundled.desktop.backend import Backend
from toolcrib.bundled.desktop.failures import MissingField, OutOfRange
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.bundled.desktop.operations.table import LOOKING, Desktop, Reply, operation
from toolcrib.bundled.desktop.pictures import (
    JPEG_QUALITY,
    LONGEST_SIDE,
    SMALLEST_SIDE,
    encode,
    read_format,
)
from toolcrib.bundled.desktop.resources import window_name
from toolcrib.bundled.desktop.vision.reading import NoOcr, OcrResult, shared_reader
from toolcrib.bundled.desktop.vision.views import (
    CapturedView,
    CaptureTarget,
    Region,
    crop,
    display_rect,
    find_window,
    look,
    look_at_region,
    look_at_window,
)
from toolcrib.bundled.desktop.window_lookup import choose_application, window_at
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.threads import in_thread

MAX_PADDING = 500
MAX_OCR_LINES = 300
Mode = Literal["screen", "window", "region"]


@dataclass(frozen=True)
class OcrLine:
    text: str
    x: int
    y: int
    bounds: Rect
    confidence: float


@dataclass(frozen=True)
class ScreenshotRecord:
    screenshot: str
    format: str
    width: int
    height: int
    origin: Point
    scale: float
    region: Rect
    window: int | None
    element_id: str | None
    ocr_text: str | None
    ocr_lines: list[OcrLine]


@dataclass(frozen=True)
class FullPicture:
    """What gRPC sends: programs want each pixel, and no text about it."""

    image_data: bytes
    format: str
    width: int
    height: int
    region: Rect
    window: str | None
    element_id: str | None
    ocr_text: str


@dataclass(frozen=True)
class Wish:
    """How a screenshot is to be delivered."""

    format: str
    quality: int = 0
    longest_side: int = LONGEST_SIDE
    ocr: bool = False
    languages: str = "eng"
    element_id: str | None = None


@operation("Take a screenshot", LOOKING)
async def take_screenshot(
    desktop: Desktop,
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
) -> Reply[ScreenshotRecord]:
    wish = Wish(read_format(format, "jpeg"), quality, longest_side, include_ocr, language)
    backend = await desktop.backend()
    view = await _view(desktop, backend, mode, app_name, window, region, display)
    return await _deliver(desktop, view, wish)


@operation("Capture the screen", LOOKING)
async def capture_screenshot(
    desktop: Desktop,
    format: str = "png",  # noqa: A002
    quality: int = 0,
    display: int | None = None,
    include_ocr_text: bool = False,
    longest_side: int = LONGEST_SIDE,
    language: str = "eng",
) -> Reply[ScreenshotRecord]:
    wish = Wish(read_format(format, "png"), quality, longest_side, include_ocr_text, language)
    backend = await desktop.backend()
    [view] = await look(backend, desktop.session.pictures, CaptureTarget(display=display))
    return await _deliver(desktop, view, wish)


@operation("Capture a window", LOOKING)
async def capture_window_screenshot(
    desktop: Desktop,
    window: int | str,
    format: str = "png",  # noqa: A002
    quality: int = 0,
    include_shadow: bool = False,
    include_ocr_text: bool = False,
    longest_side: int = LONGEST_SIDE,
    language: str = "eng",
) -> Reply[ScreenshotRecord]:
    wish = Wish(read_format(format, "png"), quality, longest_side, include_ocr_text, language)
    backend = await desktop.backend()
    target = desktop.choose_window(await backend.windows.list(), window)
    return await _deliver(desktop, await look_at_window(backend, target), wish)


@operation("Capture an element", LOOKING)
async def capture_element_screenshot(
    desktop: Desktop,
    element_id: str,
    parent: str | None = None,
    format: str = "png",  # noqa: A002
    quality: int = 0,
    padding: int = 0,
    include_ocr_text: bool = False,
    longest_side: int = LONGEST_SIDE,
    language: str = "eng",
) -> Reply[ScreenshotRecord]:
    name = element_id.rpartition("/")[2]
    wish = Wish(read_format(format, "png"), quality, longest_side, include_ocr_text, language, name)
    backend = await desktop.backend()
    return await _deliver(desktop, await _element(desktop, backend, name, parent, padding), wish)


@operation("Capture a region", LOOKING)
async def capture_region_screenshot(
    desktop: Desktop,
    region: Region,
    format: str = "png",  # noqa: A002
    quality: int = 0,
    display: int | None = None,
    include_ocr_text: bool = False,
    longest_side: int = LONGEST_SIDE,
    language: str = "eng",
) -> Reply[ScreenshotRecord]:
    wish = Wish(read_format(format, "png"), quality, longest_side, include_ocr_text, language)
    backend = await desktop.backend()
    rect = await display_rect(backend, display)
    if rect is not None and not desktop.for_model:  # programs measure from the corner of the display
        region = {**region, "x": region["x"] + rect.x, "y": region["y"] + rect.y}
    view = await look_at_region(backend, desktop.session.pictures, region)
    return await _deliver(desktop, view if rect is None else crop(view, rect), wish)


async def _view(
    desktop: Desktop,
    backend: Backend,
    mode: Mode | None,
    app_name: str | None,
    window: int | str | None,
    region: Region | None,
    display: int | None,
) -> CapturedView:
    chosen = mode or _implied_mode(app_name, window, region)
    if chosen == "screen":
        return (await look(backend, desktop.session.pictures, CaptureTarget(display=display)))[0]
    if chosen == "region" and region is None:
        raise MissingField("The mode region needs a region.", "Give region with x, y, width and height.")
    named = window is not None or app_name is not None or chosen == "window"
    target = await find_window(backend, app_name, window) if named else None
    place = CaptureTarget(window=target, region=region if chosen == "region" else None)
    return (await look(backend, desktop.session.pictures, place))[0]


async def _element(
    desktop: Desktop, backend: Backend, name: str, parent: str | None, padding: int
) -> CapturedView:
    desktop.check_name(parent or "", "applications")
    snapshot, element = await desktop.session.snapshots.resolve(backend, name)
    process = snapshot.tree.application
    if parent and not parent.endswith("/-") and await choose_application(backend, parent) != process:
        raise ToolFailure(f"{name} is not an element of {parent}.", f"It belongs to application {process}.")
    if element.rect is None or element.rect.is_empty:
        raise ToolFailure(f"{name} is not on the screen.", "Open the menu, tab or page it is in.")
    if not desktop.for_model and not 0 <= padding <= MAX_PADDING:
        raise OutOfRange(f"padding is 0 to {MAX_PADDING}.")
    rect = element.rect.grown(min(max(0, padding), MAX_PADDING))
    own = [candidate for candidate in await backend.windows.list() if candidate.application == process]
    window = window_at(own, element.rect.centre)
    if window is None:  # an open menu is no window of its own
        return CapturedView(await backend.capture.screen(rect))
    return crop(await look_at_window(backend, window), rect)


async def _deliver(desktop: Desktop, view: CapturedView, wish: Wish) -> Reply[Any]:
    if not desktop.for_model:
        return Reply(await _full_picture(view, wish))
    longest = min(max(wish.longest_side, SMALLEST_SIDE), LONGEST_SIDE * 4)
    quality = min(max(1, wish.quality), 100) if wish.quality else JPEG_QUALITY
    picture = await in_thread(encode, view.screenshot, wish.format, longest, quality)
    name = desktop.session.pictures.add(picture.space)
    lines, notes = await _read(view, wish) if wish.ocr else (None, [])
    origin, scale = picture.space.origin, picture.space.scale
    data = ScreenshotRecord(
        screenshot=name,
        format=wish.format,
        width=picture.width,
        height=picture.height,
        origin=origin,
        scale=round(scale, 6),
        region=view.rect,
        window=view.window.id if view.window is not None else None,
        element_id=wish.element_id,
        ocr_text=None if lines is None else "\n".join(line.text for line in lines),
        ocr_lines=(lines or [])[:MAX_OCR_LINES],
    )
    text = (
        f"{name}: {picture.width}x{picture.height} pixels. Screen position of a pixel: "
        f"x/{scale:.4g}+{origin.x}, y/{scale:.4g}+{origin.y}."
    )
    return Reply(data, "\n".join([text, *notes]), [picture.image])


async def _full_picture(view: CapturedView, wish: Wish) -> FullPicture:
    if not 0 <= wish.quality <= 100:
        raise OutOfRange("quality is 1 to 100.")
    pixels, quality = view.screenshot.pixels, wish.quality or JPEG_QUALITY
    picture = await in_thread(encode, view.screenshot, wish.format, max(pixels.shape), quality)
    return FullPicture(
        image_data=picture.image.data,
        format=wish.format,
        width=picture.width,
        height=picture.height,
        region=view.rect,
        window=None if view.window is None else window_name(view.window.application, view.window.id),
        element_id=wish.element_id,
        ocr_text=(await shared_reader().read(pixels)).text if wish.ocr else "",
    )


def _implied_mode(app_name: str | None, window: int | str | None, region: Region | None) -> Mode:
    if region is not None:
        return "region"
    return "screen" if window is None and app_name is None else "window"


async def _read(view: CapturedView, wish: Wish) -> tuple[list[OcrLine] | None, list[str]]:
    """The lines of text, and what to tell the model; a missing engine does not cost the picture."""
    try:
        reading = await shared_reader().read(view.screenshot.pixels, wish.languages)
    except NoOcr as problem:
        return None, [f"Text was not read: {problem.message} {problem.hint}"]
    lines = _ocr_lines(reading, view)
    shown = [f"{line.text} @ {line.x},{line.y}" for line in lines[:MAX_OCR_LINES]]
    notes = ["Text, with the screen position of each line:", *shown] if shown else ["No text was found."]
    if len(lines) > MAX_OCR_LINES:
        notes.append(f"… {len(lines) - MAX_OCR_LINES} more lines; choose a region.")
    if not reading.complete:
        notes.append("Incomplete: the time for OCR was over.")
    return lines, notes


def _ocr_lines(reading: OcrResult, view: CapturedView) -> list[OcrLine]:
    origin = view.screenshot.origin
    moved = [(line, line.rect.moved(origin.x, origin.y)) for line in reading.lines]
    return [
        OcrLine(line.text, rect.centre.x, rect.centre.y, rect, round(line.confidence, 2))
        for line, rect in moved
    ]
