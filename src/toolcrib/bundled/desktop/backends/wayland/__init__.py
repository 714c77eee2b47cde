"""Wayland sessions: X11 programs through XWayland, elements through AT-SPI, the rest through portals. Has the
messages about what is missing or does not work there.

A Wayland compositor does not let one program see or control the windows of others. What works there:
programs that use XWayland, like on X11; elements of all programs and their actions; screenshots and, after
the user has allowed it in a dialog, keyboard and pointer through xdg-desktop-portal.
"""

from __future__ import annotations

from toolcrib.bundled.desktop.backend import Backend, SetupProblem
from toolcrib.bundled.desktop.backends import x11
from toolcrib.bundled.desktop.backends.wayland.target import (
    WaylandTarget,
    clipboard_installed,
    is_wayland,
    portal_installed,
)
from toolcrib.bundled.desktop.backends.x11.target import DisplayTarget

__all__ = ["PLATFORM", "WaylandTarget", "open_backend", "probe", "suits_session", "user_target"]

PLATFORM = "linux"
suits_session = is_wayland
user_target = WaylandTarget.of_user
INSTEAD = "For full control, log in to an X11 session or use a display of its own: --headless 1280x800."


def probe(target: WaylandTarget | DisplayTarget) -> list[SetupProblem]:
    """What does not work in this session; a display of our own is an X11 display here too."""
    if isinstance(target, DisplayTarget):
        return x11.probe(target)
    problems = [_limits(target)]
    if not target.bus_address:
        problems.append(
            SetupProblem(
                "This Wayland session has no session bus: no elements, screenshots or input through portals.",
                "Start it in a graphical session.",
                fatal=not target.display,
            )
        )
    elif not portal_installed(target.environment):
        problems.append(
            SetupProblem(
                "xdg-desktop-portal is not installed, so there are no screenshots of the screen and no input"
                " to Wayland programs.",
                "Install xdg-desktop-portal and that of your desktop, such as xdg-desktop-portal-gnome.",
                fatal=False,
            )
        )
    if not target.display and not clipboard_installed(target.environment):
        problems.append(
            SetupProblem("The clipboard cannot be used.", "Install the package wl-clipboard.", fatal=False)
        )
    return problems


async def open_backend(target: WaylandTarget | DisplayTarget) -> Backend:
    """Connect to the session; raises `ToolFailure`."""
    if isinstance(target, DisplayTarget):
        return await x11.open_backend(target)
    from toolcrib.bundled.desktop.backends.wayland.desktop import WaylandDesktop

    return await WaylandDesktop.open(target)


def _limits(target: WaylandTarget) -> SetupProblem:
    if target.display:
        message = (
            "This is a Wayland session. X11 programs can be controlled; of other programs, elements can be"
            " read and activated, but their windows cannot be moved or focused."
        )
    else:
        message = (
            "This is a Wayland session without XWayland. Elements can be read and activated, but windows"
            " cannot be moved or focused."
        )
    return SetupProblem(message, INSTEAD, fatal=False)
