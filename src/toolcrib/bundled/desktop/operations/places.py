"""Turns the arguments that name an application, a window or a region into a place to look at."""

from __future__ import annotations

from toolcrib.bundled.desktop.backend import Backend, Window
from toolcrib.bundled.desktop.vision.views import CaptureTarget, Region, shown_windows
from toolcrib.bundled.desktop.window_lookup import choose_window


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
