"""The macOS backend: one thread for windows and input, one for elements."""

from __future__ import annotations

import asyncio

from toolcrib.bundled.desktop.backends.macos.accessibility import MacAccessibility
from toolcrib.bundled.desktop.backends.macos.applications import MacApplications
from toolcrib.bundled.desktop.backends.macos.capture import MacCapture
from toolcrib.bundled.desktop.backends.macos.clipboard import MacClipboard
from toolcrib.bundled.desktop.backends.macos.displays import MacDisplays
from toolcrib.bundled.desktop.backends.macos.frameworks import Frameworks
from toolcrib.bundled.desktop.backends.macos.input import MacInput
from toolcrib.bundled.desktop.backends.macos.windows import MacWindows
from toolcrib.bundled.desktop.backends.watching import WindowWatcher
from toolcrib.bundled.desktop.backends.worker import Worker
from toolcrib.bundled.desktop.changes import Changes


class MacDesktop:
    name = "macos"

    def __init__(self, mac: Frameworks) -> None:
        names = ("act", "elements", "watch")
        acting, elements, watching = (Worker(name, around=mac.autorelease_pool) for name in names)
        self._workers = (acting, elements, watching)
        self.events = Changes(asyncio.get_running_loop())
        self.windows = MacWindows(mac, acting)
        self.displays = MacDisplays(mac, acting)
        self.capture = MacCapture(mac, acting, self.displays, self.windows)
        self.input = MacInput(mac, acting, self.windows)
        self.clipboard = MacClipboard(mac, acting)
        self.accessibility = MacAccessibility(mac, elements)
        self.applications = MacApplications(mac, acting, self.windows, self.events)
        self._watcher = WindowWatcher(self.events, MacWindows(mac, watching).list)
        self._open = True

    @property
    def alive(self) -> bool:
        return self._open

    def close(self) -> None:
        self._open = False
        self._watcher.stop()
        for worker in self._workers:
            worker.close()
