"""Converts positions and rectangles in a named coordinate space (screen, window, screenshot) into screen
positions."""

from __future__ import annotations

from toolcrib.bundled.desktop.backend import Backend, Window
from toolcrib.bundled.desktop.geometry import Point, Rect, Space
from toolcrib.bundled.desktop.pictures import Pictures
from toolcrib.serverkit.context import ToolFailure


async def to_screen(
    backend: Backend,
    pictures: Pictures,
    x: float,
    y: float,
    space: Space = "screen",
    reference: str | int | None = None,
) -> Point:
    """The screen position; `reference` is the id of the window or screenshot that the space belongs to."""
    if space == "screen":
        return Point(round(x), round(y))
    if reference is None:
        raise ToolFailure(f"A position in the space {space!r} needs the id of its {space}.")
    if space == "screenshot":
        return pictures.space(str(reference)).to_screen(x, y)
    window = await _window(backend, reference)
    return Point(window.rect.x + round(x), window.rect.y + round(y))


async def rect_to_screen(
    backend: Backend, pictures: Pictures, rect: Rect, space: Space, reference: str | int | None
) -> Rect:
    """Both corners are turned, because a screenshot may be scaled."""
    start = await to_screen(backend, pictures, rect.x, rect.y, space, reference)
    end = await to_screen(backend, pictures, rect.x + rect.width, rect.y + rect.height, space, reference)
    return Rect(start.x, start.y, end.x - start.x, end.y - start.y)


async def _window(backend: Backend, reference: str | int) -> Window:
    for window in await backend.windows.list():
        if str(window.id) == str(reference):
            return window
    raise ToolFailure(f"There is no window {reference}.", "Call list_windows again.")
