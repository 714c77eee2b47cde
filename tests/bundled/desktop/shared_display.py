"""The display that the tests of a process share: checked before each test, and replaced if it is unusable."""

from __future__ import annotations

import subprocess
import time

from toolcrib.bundled.desktop.backends.x11.connection import DisplayLost, XConnection
from toolcrib.bundled.desktop.backends.x11.windows import list_windows, wait_for_manager
from toolcrib.bundled.desktop.headless import HeadlessDisplay, probe

SIZE = (1280, 800)
CLEAN_UP = 10.0
"""Seconds for the windows of programs that were just ended to go."""


class SharedDisplay:
    def __init__(self) -> None:
        self._opened: HeadlessDisplay | None = None
        self._layout = b""

    def usable(self) -> HeadlessDisplay:
        """A display with a window manager, without windows, with the layout it started with."""
        if self._opened is None or not self._is_usable(self._opened):
            self.close()
            self._opened = self._start()
        return self._opened

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()

    def _start(self) -> HeadlessDisplay:
        missing = [problem.hint for problem in probe()]
        assert not missing, " ".join(missing)
        opened = HeadlessDisplay.start(SIZE)
        watcher = XConnection(opened.target.display, opened.target.cookie)
        self._layout = layout_of(watcher)
        watcher.raw.disconnect()
        return opened

    def _is_usable(self, display: HeadlessDisplay) -> bool:
        try:
            watcher = XConnection(display.target.display, display.target.cookie)
        except DisplayLost:
            return False
        try:
            return (
                wait_for_manager(watcher) and _becomes_empty(watcher) and self._has_layout(display, watcher)
            )
        finally:
            watcher.raw.disconnect()

    def _has_layout(self, display: HeadlessDisplay, watcher: XConnection) -> bool:
        if layout_of(watcher) != self._layout:
            subprocess.run(["setxkbmap", "us"], env=display.target.environment, check=True)
        return layout_of(watcher) == self._layout


def layout_of(connection: XConnection) -> bytes:
    setup = connection.raw.setup
    count = setup.max_keycode - setup.min_keycode + 1
    return bytes(connection.core.GetKeyboardMapping(setup.min_keycode, count).reply().keysyms.buf())


def _becomes_empty(watcher: XConnection) -> bool:
    deadline = time.monotonic() + CLEAN_UP
    while list_windows(watcher):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
