"""Opens an address in the person's browser, where there is one to be seen."""

from __future__ import annotations

import os
import sys
import threading

PATIENCE = 5.0
"""Seconds for a browser to be started."""


def can_show() -> bool:
    """True where somebody sits at a screen: a terminal, and a display beside it."""
    if not sys.stdout.isatty():
        return False
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def show(address: str) -> threading.Thread:
    """Open it; a browser that is slow to come, or does not, holds up nothing."""
    import webbrowser

    opening = threading.Thread(target=webbrowser.open, args=(address,), name="browser", daemon=True)
    opening.start()
    return opening


def show_and_wait(address: str) -> None:
    """Open it before this process ends."""
    show(address).join(PATIENCE)
