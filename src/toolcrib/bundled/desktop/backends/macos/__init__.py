"""macOS: windows through Quartz, elements through the Accessibility API.

Checked against the recorded names, signatures and shapes of the system's interfaces, not yet run on a Mac.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from toolcrib.bundled.desktop.backend import Backend, Problem
from toolcrib.serverkit.context import ToolFailure

__all__ = ["PLATFORM", "MacTarget", "open_backend", "probe", "user_target"]

PLATFORM = "darwin"


@dataclass(frozen=True)
class MacTarget:
    """The desktop of the user who runs this process; there is no other."""


def user_target() -> MacTarget:
    return MacTarget()


def probe(target: object) -> list[Problem]:
    """What is missing: packages or permissions."""
    from toolcrib.bundled.desktop.backends.macos.frameworks import load_frameworks
    from toolcrib.bundled.desktop.backends.macos.permissions import missing_permissions

    if sys.platform != PLATFORM:
        return [Problem("This is not a Mac.", "Use the backend of this system.")]
    if not isinstance(target, MacTarget):
        return [Problem("macOS has no displays of their own.", "Leave out --headless.")]
    try:
        return missing_permissions(load_frameworks())
    except ToolFailure as error:
        return [Problem(error.message, error.hint or "")]


async def open_backend(target: MacTarget) -> Backend:
    """Raises `ToolFailure` if pyobjc is not installed."""
    from toolcrib.bundled.desktop.backends.macos.desktop import MacDesktop
    from toolcrib.bundled.desktop.backends.macos.frameworks import load_frameworks

    return MacDesktop(load_frameworks())
