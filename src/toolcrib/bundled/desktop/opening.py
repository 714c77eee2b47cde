"""Opens a program and waits until its window is active, or returns to the window that was active before (in
the background).

A program that was running already may show what it was given in a window that it has.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from toolcrib.bundled.desktop.backend import Backend, Window
from toolcrib.bundled.desktop.deadline import PatientTimeout
from toolcrib.serverkit.context import ToolFailure

FOCUS_PATIENCE = 1.0
"""Seconds for a new window to become active; a window manager may be set never to do that."""
POLL = 0.05


@dataclass(frozen=True)
class Opened:
    window: Window | None
    """None if it shows none in time."""
    running: bool = False
    """It was running already: the window was there before."""


async def open_program(
    backend: Backend, command: Sequence[str], timeout: float, *, background: bool = False
) -> Opened:
    """The program's first window, or the one in which a running instance has opened it."""
    before = await backend.windows.list()
    opened = await backend.applications.open(command, timeout)
    if opened is None:
        return Opened(None)
    running = opened.id in {window.id for window in before}
    if running and not background:
        with contextlib.suppress(ToolFailure):  # one that a dialog blocks stays where it is
            opened = await backend.windows.focus(opened.id)
    # A window is listed before it is active, so an action that comes earlier would lose the focus to it.
    window = await _once_active(backend, opened) if not running else opened
    front = next((candidate for candidate in before if candidate.active), None)
    if background and front is not None:
        await backend.windows.focus(front.id)
    return Opened(window, running)


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
