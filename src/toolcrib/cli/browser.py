"""Opens an address in the user's browser: only on a terminal with a display, and how long to wait for it."""

from __future__ import annotations

import os
import sys
import threading

START_TIMEOUT = 5.0
"""Seconds to wait for a browser to start."""


def can_open() -> bool:
    """True on a terminal with a display."""
    if not sys.stdout.isatty():
        return False
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def open_address(address: str) -> threading.Thread:
    """Open it in a thread: a browser that hangs must not block the host."""
    import webbrowser

    thread = threading.Thread(target=webbrowser.open, args=(address,), name="browser", daemon=True)
    thread.start()
    return thread


def open_and_wait(address: str) -> None:
    """Open it before this process ends."""
    open_address(address).join(START_TIMEOUT)
