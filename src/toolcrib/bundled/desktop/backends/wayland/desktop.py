"""The Wayland backend: XWayland if it is there, accessibility, and portals."""

from __future__ import annotations

import asyncio
import contextlib
from typing import cast

from toolcrib.bundled.desktop.backend import Clipboard
from toolcrib.bundled.desktop.backends.wayland.accessibility import WaylandAccessibility
from toolcrib.bundled.desktop.backends.wayland.capture import WaylandCapture
from toolcrib.bundled.desktop.backends.wayland.clipboard import WlClipboard
from toolcrib.bundled.desktop.backends.wayland.displays import WaylandDisplays
from toolcrib.bundled.desktop.backends.wayland.input import WaylandInput
from toolcrib.bundled.desktop.backends.wayland.native import NativeWindows
from toolcrib.bundled.desktop.backends.wayland.portal import Portals
from toolcrib.bundled.desktop.backends.wayland.remote_desktop import RemoteDesktop
from toolcrib.bundled.desktop.backends.wayland.screen import WaylandScreen
from toolcrib.bundled.desktop.backends.wayland.target import WaylandTarget
from toolcrib.bundled.desktop.backends.wayland.windows import WaylandWindows
from toolcrib.bundled.desktop.backends.x11.applications import X11Applications
from toolcrib.bundled.desktop.backends.x11.atspi.accessibility import AtspiAccessibility
from toolcrib.bundled.desktop.backends.x11.desktop import X11Desktop
from toolcrib.bundled.desktop.backends.x11.windows import X11Windows
from toolcrib.bundled.desktop.changes import Changes
from toolcrib.bundled.desktop.geometry import Point
from toolcrib.serverkit.context import ToolFailure


class WaylandDesktop:
    name = "wayland"

    def __init__(self, target: WaylandTarget, x11: X11Desktop | None) -> None:
        self.target = target
        self._x11 = x11
        self._portals = Portals(target.bus_address)
        self.events = x11.events if x11 else Changes(asyncio.get_running_loop())
        self._atspi = x11.accessibility if x11 else self._own_atspi()
        self.windows = WaylandWindows(x11.windows if x11 else None, NativeWindows(self._atspi))
        self.accessibility = WaylandAccessibility(self._atspi, self.windows)
        screen = WaylandScreen(self._portals, x11.displays.list if x11 else None)
        self.displays = WaylandDisplays(screen)
        self.capture = WaylandCapture(x11.capture if x11 else None, screen, self.windows)
        self.input = WaylandInput(
            x11.input if x11 else None, RemoteDesktop(self._portals), screen, self.windows
        )
        self.clipboard: Clipboard = x11.clipboard if x11 else WlClipboard(target.environment)
        self.applications = X11Applications(
            # Of X11's windows it uses the list.
            target.xwayland,
            cast(X11Windows, self.windows),
            self.events,
            lambda: self._atspi.known,
        )

    @classmethod
    async def open(cls, target: WaylandTarget) -> WaylandDesktop:
        desktop = cls(target, await _open_xwayland(target))
        if desktop._x11 is None:
            with contextlib.suppress(ToolFailure):  # the rest works without elements
                await desktop._atspi.connect()
        return desktop

    @property
    def alive(self) -> bool:
        return self._x11 is None or self._x11.alive

    def close(self) -> None:
        self._portals.close()
        if self._x11 is not None:
            self._x11.close()
        else:
            self._atspi.close()

    def _own_atspi(self) -> AtspiAccessibility:
        return AtspiAccessibility(self.target.bus_address, self.events, cast(X11Windows, _NoPlaces()))


async def _open_xwayland(target: WaylandTarget) -> X11Desktop | None:
    """None also if it cannot be reached: what needs no XWayland still works."""
    with contextlib.suppress(ToolFailure):
        return await X11Desktop.open(target.xwayland) if target.display else None
    return None


class _NoPlaces:
    """Stands for X11's windows where only their positions are asked for."""

    async def content_origin(self, application: int, title: str) -> Point | None:
        return None
