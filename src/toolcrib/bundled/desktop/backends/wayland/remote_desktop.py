"""Keyboard and pointer through the RemoteDesktop portal.

The user allows it in a dialog when the first input is sent. The permission is not kept: if the user ends the
session in the desktop's own controls, the next input asks again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbus_fast import Variant

from toolcrib.bundled.desktop.backends.wayland.portal import INSTEAD, Portal, PortalRefused, Portals
from toolcrib.bundled.desktop.backends.wayland.screen import bounds
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.serverkit.context import ToolFailure

REMOTE_DESKTOP = "org.freedesktop.portal.RemoteDesktop"
SCREEN_CAST = "org.freedesktop.portal.ScreenCast"
KEYBOARD, POINTER = 1, 2
MONITOR = 1
PATIENCE = 10.0
CONSENT_PATIENCE = 60.0
VERTICAL, HORIZONTAL = 0, 1
NO_OPTIONS: dict[str, Variant] = {}


@dataclass(frozen=True)
class Stream:
    """A display that the user shares; positions are given inside one."""

    node: int
    rect: Rect
    """In the compositor's logical coordinates."""


@dataclass(frozen=True)
class _Session:
    portal: Portal
    handle: str
    devices: int
    streams: tuple[Stream, ...]


class RemoteDesktop:
    def __init__(self, portals: Portals) -> None:
        self._portals = portals
        self._session: _Session | None = None
        self._starting = asyncio.Lock()

    async def available(self) -> bool:
        try:
            return bool(await (await self._portals.get()).version(REMOTE_DESKTOP))
        except ToolFailure:
            return False

    async def move(self, to: Point, screen: Rect) -> None:
        """`screen` is all displays together in the units of `to`."""
        session = await self._start(POINTER)
        if not session.streams:
            raise ToolFailure(
                "The user shared no display, so the pointer cannot be placed.",
                "Ask the user to share the whole screen in the desktop's dialog.",
            )
        stream, x, y = locate(to, screen, session.streams)
        await self._notify(session, "NotifyPointerMotionAbsolute", "udd", stream.node, x, y)

    async def button(self, code: int, *, pressed: bool) -> None:
        await self._notify(await self._start(POINTER), "NotifyPointerButton", "iu", code, int(pressed))

    async def scroll(self, axis: int, steps: int) -> None:
        await self._notify(await self._start(POINTER), "NotifyPointerAxisDiscrete", "ui", axis, steps)

    async def key(self, keysym: int, *, pressed: bool) -> None:
        session = await self._start(KEYBOARD)
        await self._notify(session, "NotifyKeyboardKeysym", "iu", keysym, int(pressed))

    async def _notify(self, session: _Session, member: str, signature: str, *arguments: Any) -> None:
        await session.portal.call(
            REMOTE_DESKTOP, member, f"oa{{sv}}{signature}", session.handle, NO_OPTIONS, *arguments
        )

    async def _start(self, device: int) -> _Session:
        """The session; asks the user if there is none."""
        async with self._starting:
            if self._session is None or not self._session.portal.connected:
                self._session = await self._open()
            session = self._session
        if not session.devices & device:
            name = "keyboard" if device == KEYBOARD else "pointer"
            raise PortalRefused(f"The user did not allow control of the {name}.", INSTEAD)
        return session

    async def _open(self) -> _Session:
        portal = await self._portals.get()
        if not await portal.version(REMOTE_DESKTOP):
            raise ToolFailure(
                "This desktop does not let programs send input to Wayland programs.",
                "Use the elements' own actions, X11 programs, or --headless 1280x800.",
            )
        token = {"session_handle_token": Variant("s", "toolcrib")}
        made = await portal.request(REMOTE_DESKTOP, "CreateSession", "", options=token, patience=PATIENCE)
        handle = str(made["session_handle"])
        try:
            return await self._ask(portal, handle)
        except BaseException:
            await portal.close_session(handle)
            raise

    async def _ask(self, portal: Portal, handle: str) -> _Session:
        """Choose devices and displays, and have the desktop ask the user."""
        devices = {"types": Variant("u", KEYBOARD | POINTER)}
        await portal.request(REMOTE_DESKTOP, "SelectDevices", "o", handle, options=devices, patience=PATIENCE)
        sources = {"types": Variant("u", MONITOR), "multiple": Variant("b", True)}
        await portal.request(SCREEN_CAST, "SelectSources", "o", handle, options=sources, patience=PATIENCE)
        results = await portal.request(
            REMOTE_DESKTOP, "Start", "os", handle, "", options=NO_OPTIONS, patience=CONSENT_PATIENCE
        )
        portal.on_closed(handle, self._forget)
        return _Session(portal, handle, int(results.get("devices", 0)), _streams(results))

    def _forget(self) -> None:
        self._session = None


def _streams(results: Mapping[str, Any]) -> tuple[Stream, ...]:
    """Streams without a size cannot be pointed at."""
    found = []
    for node, properties in results.get("streams", ()):
        size = properties["size"].value if "size" in properties else None
        if size is not None:
            x, y = properties["position"].value if "position" in properties else (0, 0)
            found.append(Stream(int(node), Rect(x, y, *size)))
    return tuple(found)


def locate(point: Point, screen: Rect, streams: Sequence[Stream]) -> tuple[Stream, float, float]:
    """The stream at a screen position, and the position inside it.

    The compositor's coordinates may be scaled against ours; both cover the same displays.
    """
    whole = bounds([stream.rect for stream in streams])
    x = whole.x + (point.x + 0.5 - screen.x) * whole.width / screen.width
    y = whole.y + (point.y + 0.5 - screen.y) * whole.height / screen.height
    for stream in streams:
        if stream.rect.contains(Point(int(x // 1), int(y // 1))):
            return stream, x - stream.rect.x, y - stream.rect.y
    raise ToolFailure(
        f"{point.x},{point.y} is on no display that the user shares.",
        "Take a screenshot, or ask the user to share all displays.",
    )
