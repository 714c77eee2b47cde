"""Pictures of the place that a caller names: the screen, a display, an application, a window or a region; the
most windows of an application, and errors for empty regions and minimized windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from toolcrib.bundled.desktop.backend import Backend, Screenshot, Window
from toolcrib.bundled.desktop.coordinates import rect_to_screen
from toolcrib.bundled.desktop.failures import DisplayNotFound, OutOfRange, WindowNotFound
from toolcrib.bundled.desktop.geometry import Point, Rect, Space
from toolcrib.bundled.desktop.pictures import Pictures
from toolcrib.bundled.desktop.window_lookup import choose_application, choose_window

MAX_WINDOWS = 4
"""Of one application, topmost first."""


class RegionBounds(TypedDict):
    x: float
    y: float
    width: float
    height: float


class Region(RegionBounds, total=False):
    space: Space
    reference: str


@dataclass(frozen=True)
class CaptureTarget:
    """Where to look; nothing for the whole screen."""

    application: str | None = None
    window: Window | None = None
    region: Region | None = None
    display: int | None = None


@dataclass(frozen=True)
class CapturedView:
    screenshot: Screenshot
    window: Window | None = None

    @property
    def rect(self) -> Rect:
        """On the screen."""
        height, width = self.screenshot.pixels.shape[:2]
        return Rect(self.screenshot.origin.x, self.screenshot.origin.y, width, height)


async def look(backend: Backend, pictures: Pictures, place: CaptureTarget) -> list[CapturedView]:
    """One picture, or one of each window of an application."""
    if place.region is not None:
        return [await look_at_region(backend, pictures, place.region, place.window)]
    if place.window is not None:
        return [await look_at_window(backend, place.window)]
    if place.application is not None:
        windows = await shown_windows(backend, place.application)
        return [await look_at_window(backend, window) for window in windows[:MAX_WINDOWS]]
    return [CapturedView(await backend.capture.screen(await display_rect(backend, place.display)))]


async def look_at_window(backend: Backend, window: Window) -> CapturedView:
    return CapturedView(await backend.capture.window(window.id), window)


async def look_at_region(
    backend: Backend, pictures: Pictures, region: Region, window: Window | None = None
) -> CapturedView:
    """Of a window if the region is in its space, even if other windows cover it; else of the screen."""
    rect, owner = await region_rect(backend, pictures, region, window)
    if owner is not None:
        return crop(await look_at_window(backend, owner), rect)
    return CapturedView(await backend.capture.screen(rect))


async def region_rect(
    backend: Backend, pictures: Pictures, region: Region, window: Window | None = None
) -> tuple[Rect, Window | None]:
    """Its place on the screen, and the window it belongs to."""
    rect = Rect(*map(round, (region["x"], region["y"], region["width"], region["height"])))
    if rect.is_empty:
        raise OutOfRange("The region is empty.", "Give a width and a height above zero.")
    space, reference = region.get("space", "screen"), region.get("reference")
    if window is not None and "space" not in region:
        return rect.moved(window.rect.x, window.rect.y), window
    on_screen = await rect_to_screen(backend, pictures, rect, space, reference)
    if space == "window":
        window = next((other for other in await backend.windows.list() if str(other.id) == reference), window)
    return on_screen, window


async def shown_windows(backend: Backend, application: str | None) -> list[Window]:
    """Those of an application that are not minimised, topmost first; raises `WindowNotFound` if none is."""
    process = await choose_application(backend, application)
    found = [window for window in reversed(await backend.windows.list()) if window.application == process]
    shown = [window for window in found if not window.minimised]
    if not shown:
        problem = "has no window" if not found else "has only minimised windows"
        raise WindowNotFound(
            f"The application {process} {problem}.", "Open or restore one with focus_window."
        )
    return shown


async def display_rect(backend: Backend, display: int | None) -> Rect | None:
    """None for all displays together."""
    if display is None:
        return None
    listed = await backend.displays.list()
    found = next((candidate for candidate in listed if candidate.id == display), None)
    if found is None:
        names = ", ".join(f"{candidate.id} ({candidate.name})" for candidate in listed)
        raise DisplayNotFound(f"There is no display {display}.", f"Give one of these: {names}.")
    return found.rect


def crop(view: CapturedView, rect: Rect) -> CapturedView:
    """The part of a view at this place on the screen."""
    part = rect.intersection(view.rect)
    if part.is_empty:
        raise OutOfRange("The region is outside the window.", f"The window is at {view.rect}.")
    left, top = part.x - view.rect.x, part.y - view.rect.y
    pixels = view.screenshot.pixels[top : top + part.height, left : left + part.width]
    return CapturedView(Screenshot(pixels, Point(part.x, part.y)), view.window)


async def find_place(
    backend: Backend, app_name: str | None, window: int | str | None, region: Region | None
) -> CaptureTarget:
    """A region belongs to the window or application that is named with it."""
    if window is not None or (app_name is not None and region is not None):
        return CaptureTarget(window=await find_window(backend, app_name, window), region=region)
    return CaptureTarget(application=app_name, region=region)


async def find_window(backend: Backend, app_name: str | None, window: int | str | None) -> Window:
    """The window that is named, the topmost one of an application, or the active one."""
    if window is None:
        return (await shown_windows(backend, app_name))[0]
    return choose_window(await backend.windows.list(), window)
