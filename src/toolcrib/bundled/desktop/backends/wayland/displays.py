"""Displays of a Wayland session."""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.bundled.desktop.backend import Display
from toolcrib.bundled.desktop.backends.wayland.screen import WaylandScreen


class WaylandDisplays:
    def __init__(self, screen: WaylandScreen) -> None:
        self._screen = screen

    async def list(self) -> Sequence[Display]:
        return await self._screen.displays()
