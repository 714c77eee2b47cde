"""The Windows backend: one thread for windows and input, one for elements."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from toolcrib.bundled.desktop.backends.watching import WindowWatcher
from toolcrib.bundled.desktop.backends.windows.accessibility import UiaAccessibility
from toolcrib.bundled.desktop.backends.windows.api import WindowsApi
from toolcrib.bundled.desktop.backends.windows.applications import Win32Applications
from toolcrib.bundled.desktop.backends.windows.capture import Win32Capture
from toolcrib.bundled.desktop.backends.windows.clipboard import Win32Clipboard
from toolcrib.bundled.desktop.backends.windows.displays import Win32Displays
from toolcrib.bundled.desktop.backends.windows.input import Win32Input
from toolcrib.bundled.desktop.backends.windows.uia import Automation, join_apartment
from toolcrib.bundled.desktop.backends.windows.windows import Win32Windows
from toolcrib.bundled.desktop.backends.worker import Worker
from toolcrib.bundled.desktop.changes import Changes

PER_MONITOR_AWARE = -4
"""DPI_AWARENESS_CONTEXT_PER_MONITOR_AWARE_V2; otherwise Windows scales positions and pictures."""


class WindowsDesktop:
    name = "windows"

    def __init__(self, api: WindowsApi, load_automation: Callable[[], Automation]) -> None:
        self._api = api
        acting = Worker("act", self._become_aware)
        elements = Worker("elements", self._join)
        watching = Worker("watch", self._become_aware)
        self._workers = (acting, elements, watching)
        self.events = Changes(asyncio.get_running_loop())
        self.windows = Win32Windows(api, acting)
        self.displays = Win32Displays(api, acting)
        self.capture = Win32Capture(api, acting, self.displays, self.windows)
        self.input = Win32Input(api, acting, self.displays, self.windows)
        self.clipboard = Win32Clipboard(api, acting)
        self.accessibility = UiaAccessibility(load_automation, elements, self.windows)
        self.applications = Win32Applications(api, acting, self.windows, self.events)
        self._watcher = WindowWatcher(self.events, Win32Windows(api, watching).list)
        self._open = True

    @property
    def alive(self) -> bool:
        return self._open

    def close(self) -> None:
        self._open = False
        self._watcher.stop()
        for worker in self._workers:
            worker.close()

    def _become_aware(self) -> None:
        """For the thread alone: the host's process may have chosen otherwise."""
        self._api.user32.SetThreadDpiAwarenessContext(PER_MONITOR_AWARE)

    def _join(self) -> None:
        self._become_aware()
        join_apartment()
