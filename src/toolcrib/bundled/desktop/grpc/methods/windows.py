"""Windows: list, place, close, and their state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toolcrib.bundled.desktop.backend import Backend, Window
from toolcrib.bundled.desktop.elements.search import read_tree
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.grpc.failures import invalid
from toolcrib.bundled.desktop.grpc.messages import masked, window_message
from toolcrib.bundled.desktop.grpc.names import parent_of, window_of
from toolcrib.bundled.desktop.grpc.pages import page_of
from toolcrib.bundled.desktop.grpc.schema import v1
from toolcrib.bundled.desktop.grpc.served import ServedDesktop
from toolcrib.bundled.desktop.lists import filtered, ordered
from toolcrib.bundled.desktop.resources import window_name

LARGEST = 32_767
"""Coordinates and sizes of X11."""
WINDOW_ROLES = {"frame", "dialog", "window", "alert", "file chooser"}
STATE_TIMEOUT = 1.0
FIELDS: Mapping[str, Callable[[Window], Any]] = {
    "title": lambda each: each.title,
    "bundle_id": lambda each: each.window_class,
    "z_index": lambda each: each.level,
    "visible": lambda each: not each.minimised,
    "focused": lambda each: each.active,
}
"""What a list can be filtered and ordered by."""


class WindowMethods:
    def __init__(self, desktop: ServedDesktop) -> None:
        self._desktop = desktop

    async def get_window(self, request: Any) -> Any:
        window = await self._find(request.name)
        return masked(window_message(window), request.read_mask)

    async def list_windows(self, request: Any) -> Any:
        """Topmost first."""
        application = parent_of(request.parent)
        listed = await (await self._desktop.backend()).windows.list()
        own = [each for each in reversed(listed) if application in (None, each.application)]
        chosen = ordered(filtered(own, request.filter, FIELDS), request.order_by, FIELDS)
        page, following = page_of(request, chosen)
        return v1.ListWindowsResponse(
            windows=[window_message(each) for each in page], next_page_token=following
        )

    async def get_window_state(self, request: Any) -> Any:
        backend = await self._desktop.backend()
        window = await self._find(request.name)
        states = await _states(backend, window)
        displays = await backend.displays.list()
        return v1.WindowState(
            name=f"{window_name(window.application, window.id)}/state",
            resizable="resizable" in states,
            minimizable="modal" not in states,
            closable=True,
            modal="modal" in states,
            ax_hidden=not states,
            minimized=window.minimised,
            focused=window.active,
            fullscreen=any(window.rect == display.rect for display in displays),
        )

    async def focus_window(self, request: Any) -> Any:
        window = await self._find(request.name)
        async with self._desktop.acting() as backend:
            return window_message(await backend.windows.focus(window.id))

    async def move_window(self, request: Any) -> Any:
        x, y = _whole("x", request.x), _whole("y", request.y)
        rect = (await self._find(request.name)).rect
        return await self._place(request.name, Rect(x, y, rect.width, rect.height))

    async def resize_window(self, request: Any) -> Any:
        width, height = _whole("width", request.width, 1), _whole("height", request.height, 1)
        rect = (await self._find(request.name)).rect
        return await self._place(request.name, Rect(rect.x, rect.y, width, height))

    async def minimize_window(self, request: Any) -> Any:
        window = await self._find(request.name)
        async with self._desktop.acting() as backend:
            return window_message(await backend.windows.minimise(window.id))

    async def restore_window(self, request: Any) -> Any:
        window = await self._find(request.name)
        async with self._desktop.acting() as backend:
            return window_message(await backend.windows.restore(window.id))

    async def close_window(self, request: Any) -> Any:
        """`force` ends a program whose only window does not close."""
        window = await self._find(request.name)
        async with self._desktop.acting() as backend:
            closed = await backend.windows.close(window.id)
            if not closed and request.force and window.application is not None:
                own = [
                    each for each in await backend.windows.list() if each.application == window.application
                ]
                if [each.id for each in own] == [window.id]:
                    await backend.applications.close(window.application, force=True)
                    closed = True
        return v1.CloseWindowResponse(success=closed)

    async def _find(self, name: str) -> Window:
        return await self._desktop.window(await self._desktop.backend(), window_of(name))

    async def _place(self, name: str, rect: Rect) -> Any:
        async with self._desktop.acting() as backend:
            return window_message(await backend.windows.place(window_of(name), rect))


def offer_methods(desktop: ServedDesktop) -> WindowMethods:
    return WindowMethods(desktop)


async def _states(backend: Backend, window: Window) -> frozenset[str]:
    """The states of the window's own element; empty if accessibility does not show it."""
    if window.application is None:
        return frozenset()
    tree = await read_tree(backend, window.application, STATE_TIMEOUT)
    own = [each for each in tree.elements if each.role in WINDOW_ROLES and each.name == window.title]
    return own[0].states if own else frozenset()


def _whole(field: str, value: float, least: int = -LARGEST) -> int:
    if not least <= value <= LARGEST:  # false for NaN, too
        raise invalid("OUT_OF_RANGE", f"{field} must be between {least} and {LARGEST}.", field)
    return round(value)
