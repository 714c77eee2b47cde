"""Opens a program and waits until its window is active, or returns to the window that was active before."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from toolcrib.bundled.desktop.backend import Backend, Window
from toolcrib.bundled.desktop.patience import PatientTimeout

FOCUS_PATIENCE = 1.0
"""Seconds for a new window to become active; a window manager may be set never to do that."""
POLL = 0.05


async def open_program(
    backend: Backend, command: Sequence[str], timeout: float, *, background: bool = False
) -> Window | None:
    """The program's first window; None if it shows none in time."""
    before = await _active_window(backend) if background else None
    opened = await backend.applications.open(command, timeout)
    if opened is None:
        return None
    # A window is listed before it is active, so an action that comes earlier would lose the focus to it.
    window = await _once_active(backend, opened)
    if before is not None:
        await backend.windows.focus(before.id)
    return window


async def _once_active(backend: Backend, opened: Window) -> Window:
    with contextlib.suppress(TimeoutError), backend.events.listen("window") as changes:
        async with PatientTimeout(FOCUS_PATIENCE):
            while True:
                active = await _active_window(backend)
                if active is not None and active.id == opened.id:
                    return active
                await changes.next(POLL)
    return opened


async def _active_window(backend: Backend) -> Window | None:
    return next((window for window in await backend.windows.list() if window.active), None)
