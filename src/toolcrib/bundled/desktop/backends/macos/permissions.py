"""The permissions that macOS asks of a program that controls others, and where the user gives them."""

from __future__ import annotations

from toolcrib.bundled.desktop.backend import Problem
from toolcrib.bundled.desktop.backends.macos.frameworks import Frameworks
from toolcrib.serverkit.context import ToolFailure

_WHERE = (
    "Open System Settings > Privacy & Security > {place}, allow the program that starts Toolcrib (such as"
    " Terminal), and start it again."
)
ACCESSIBILITY = Problem(
    "macOS does not allow this program to read elements or to send input.",
    _WHERE.format(place="Accessibility"),
    fatal=False,
)
SCREEN_RECORDING = Problem(
    "macOS does not allow this program to take screenshots or to read window titles.",
    _WHERE.format(place="Screen & System Audio Recording (Screen Recording before macOS 15)"),
    fatal=False,
)


def missing_permissions(mac: Frameworks) -> list[Problem]:
    problems = []
    if not mac.services.AXIsProcessTrusted():
        problems.append(ACCESSIBILITY)
    if not mac.quartz.CGPreflightScreenCaptureAccess():
        problems.append(SCREEN_RECORDING)
    return problems


def require_accessibility(mac: Frameworks) -> None:
    """Raises `ToolFailure`: without the permission, macOS drops input silently."""
    if not mac.services.AXIsProcessTrusted():
        raise ToolFailure(ACCESSIBILITY.message, ACCESSIBILITY.hint)


def require_screen_recording(mac: Frameworks) -> None:
    """Raises `ToolFailure`: without the permission, pictures show the desktop background alone."""
    if not mac.quartz.CGPreflightScreenCaptureAccess():
        raise ToolFailure(SCREEN_RECORDING.message, SCREEN_RECORDING.hint)
