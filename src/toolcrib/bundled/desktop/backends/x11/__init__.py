"""X11 displays, with accessibility through AT-SPI: messages when there is no display or session bus."""

from __future__ import annotations

import os

from toolcrib.bundled.desktop.backend import Backend, SetupProblem
from toolcrib.bundled.desktop.backends.x11.target import DisplayTarget

__all__ = ["PLATFORM", "DisplayTarget", "open_backend", "probe", "user_target"]

PLATFORM = "linux"
user_target = DisplayTarget.of_user


def probe(target: DisplayTarget) -> list[SetupProblem]:
    """What is missing to control this display."""
    if not target.display:
        return [_no_display()]
    problems = []
    if not target.bus_address:
        problems.append(
            SetupProblem(
                "There is no session bus, so elements cannot be found.",
                "Install the package dbus.",
                fatal=False,
            )
        )
    return problems


async def open_backend(target: DisplayTarget) -> Backend:
    """Connect to a display; raises `ToolFailure`."""
    from toolcrib.bundled.desktop.backends.x11.desktop import X11Desktop

    return await X11Desktop.open(target)


def _no_display() -> SetupProblem:
    if os.environ.get("WAYLAND_DISPLAY"):
        return SetupProblem(
            "This is a Wayland session without XWayland, which cannot be controlled.",
            "Log in to an X11 session, or use a display of its own: --headless 1280x800.",
        )
    return SetupProblem(
        "There is no display: DISPLAY is not set.",
        "Start it in a graphical session, or use --headless 1280x800.",
    )
