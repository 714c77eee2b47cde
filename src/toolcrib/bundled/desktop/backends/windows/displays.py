"""Lists monitors through the Windows API."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from toolcrib.bundled.desktop.backend import Display
from toolcrib.bundled.desktop.backends.windows.api import MonitorCallback, WindowsApi
from toolcrib.bundled.desktop.backends.windows.structures import MonitorInfo, sizeof
from toolcrib.bundled.desktop.backends.worker import Worker
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.serverkit.context import ToolFailure

EFFECTIVE_DPI = 0
USUAL_DPI = 96
PRIMARY = 1
VIRTUAL_SCREEN = (76, 77, 78, 79)
"""SM_XVIRTUALSCREEN, SM_YVIRTUALSCREEN, SM_CXVIRTUALSCREEN, SM_CYVIRTUALSCREEN."""


class Win32Displays:
    def __init__(self, api: WindowsApi, worker: Worker) -> None:
        self._api = api
        self._worker = worker

    async def list(self) -> Sequence[Display]:
        return await self._worker.run(self.list_now)

    def list_now(self) -> Sequence[Display]:
        """In the worker's thread."""
        monitors: list[int] = []

        def add(monitor: int | None, context: int | None, area: Any, _: int) -> int:
            monitors.append(monitor or 0)
            return 1

        self._api.user32.EnumDisplayMonitors(None, None, MonitorCallback(add), 0)
        if not monitors:
            raise ToolFailure("There is no display.", "Connect a monitor, or log in to a desktop session.")
        return [self._describe(number, monitor) for number, monitor in enumerate(monitors)]

    def whole(self) -> Rect:
        """All monitors together. The primary one starts at 0,0, so others may be at negative positions."""
        return Rect(*(self._api.user32.GetSystemMetrics(number) for number in VIRTUAL_SCREEN))

    def _describe(self, number: int, monitor: int) -> Display:
        info = MonitorInfo(size=sizeof(MonitorInfo))
        self._api.user32.GetMonitorInfoW(monitor, ctypes.byref(info))
        across, down = ctypes.c_uint32(USUAL_DPI), ctypes.c_uint32(USUAL_DPI)
        self._api.shcore.GetDpiForMonitor(monitor, EFFECTIVE_DPI, ctypes.byref(across), ctypes.byref(down))
        primary = bool(info.flags & PRIMARY)
        return Display(number, info.device_name, info.monitor.to_rect(), primary, across.value / USUAL_DPI)
