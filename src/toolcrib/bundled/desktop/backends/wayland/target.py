"""Recognises a Wayland session, and names what it offers: XWayland, the session bus, portals."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from toolcrib.bundled.desktop.backends.x11.target import DisplayTarget

SERVICE = Path("dbus-1", "services", "org.freedesktop.portal.Desktop.service")
DEFAULT_FOLDERS = "/usr/local/share:/usr/share"


@dataclass(frozen=True)
class WaylandTarget:
    wayland_display: str
    """The compositor's socket, such as `wayland-0`."""
    display: str
    """XWayland's display; empty without XWayland."""
    bus_address: str
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of_user(cls) -> WaylandTarget:
        x11 = DisplayTarget.of_user()
        return cls(os.environ.get("WAYLAND_DISPLAY", ""), x11.display, x11.bus_address, x11.environment)

    @property
    def xwayland(self) -> DisplayTarget:
        """XWayland as an X11 display."""
        return DisplayTarget(self.display, None, self.bus_address, self.environment)


def is_wayland(environment: Mapping[str, str] | None = None) -> bool:
    """Whether the user's session is a Wayland session.

    A server that a service manager started may lack WAYLAND_DISPLAY, so the type of the session counts too.
    An explicit `x11` wins: nested compositors leave WAYLAND_DISPLAY behind.
    """
    known = os.environ if environment is None else environment
    kind = known.get("XDG_SESSION_TYPE", "")
    if kind in ("x11", "wayland"):
        return kind == "wayland"
    return bool(known.get("WAYLAND_DISPLAY"))


def portal_installed(environment: Mapping[str, str]) -> bool:
    """Whether the bus can start xdg-desktop-portal."""
    home = environment.get("XDG_DATA_HOME") or str(Path(environment.get("HOME", "/"), ".local", "share"))
    folders = (environment.get("XDG_DATA_DIRS") or DEFAULT_FOLDERS).split(":")
    return any((Path(folder) / SERVICE).is_file() for folder in (home, *folders) if folder)


def clipboard_installed(environment: Mapping[str, str]) -> bool:
    """Whether the programs of wl-clipboard are there."""
    return all(shutil.which(name, path=environment.get("PATH")) for name in ("wl-copy", "wl-paste"))
