"""Windows: windows and input through the Windows API, elements through UI Automation.

Checked against the documented structures, numbers and interfaces of the system, not yet run on Windows.
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass

from toolcrib.bundled.desktop.backend import Backend, Problem
from toolcrib.serverkit.context import ToolFailure

__all__ = ["PLATFORM", "WindowsTarget", "open_backend", "probe", "user_target"]

PLATFORM = "win32"


@dataclass(frozen=True)
class WindowsTarget:
    """The desktop of the user who runs this process; there is no other."""


def user_target() -> WindowsTarget:
    return WindowsTarget()


def probe(target: object) -> list[Problem]:
    """What is missing: packages, or rights over programs that run as administrator."""
    from toolcrib.bundled.desktop.backends.windows.api import load_api
    from toolcrib.bundled.desktop.backends.windows.integrity import missing_rights

    if sys.platform != PLATFORM:
        return [Problem("This is not Windows.", "Use the backend of this system.")]
    if not isinstance(target, WindowsTarget):
        return [Problem("Windows has no displays of their own.", "Leave out --headless.")]
    problems = []
    if importlib.util.find_spec("comtypes") is None:
        problems.append(
            Problem(
                "comtypes is missing, so elements cannot be found.", "Install toolcrib[desktop].", fatal=False
            )
        )
    try:
        return [*problems, *missing_rights(load_api())]
    except ToolFailure as error:
        return [Problem(error.message, error.hint or "")]


async def open_backend(target: WindowsTarget) -> Backend:
    """Raises `ToolFailure` on other systems."""
    from toolcrib.bundled.desktop.backends.windows.api import load_api
    from toolcrib.bundled.desktop.backends.windows.desktop import WindowsDesktop
    from toolcrib.bundled.desktop.backends.windows.uia import load_automation

    return WindowsDesktop(load_api(), load_automation)
