"""Displays and the pointer."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from toolcrib.bundled.desktop.geometry import Point
from toolcrib.bundled.desktop.grpc.failures import not_found, unimplemented
from toolcrib.bundled.desktop.grpc.messages import display_message
from toolcrib.bundled.desktop.grpc.names import display_of
from toolcrib.bundled.desktop.grpc.pages import page_of
from toolcrib.bundled.desktop.grpc.schema import v1
from toolcrib.bundled.desktop.grpc.served import ServedDesktop


@runtime_checkable
class KnowsPointer(Protocol):
    """The displays of a desktop that tell where the pointer is."""

    async def pointer(self) -> Point: ...


class DisplayMethods:
    def __init__(self, desktop: ServedDesktop) -> None:
        self._desktop = desktop

    async def list_displays(self, request: Any) -> Any:
        listed = await (await self._desktop.backend()).displays.list()
        page, following = page_of(request, [display_message(each) for each in listed])
        return v1.ListDisplaysResponse(displays=page, next_page_token=following)

    async def get_display(self, request: Any) -> Any:
        wanted = display_of(request.name)
        for display in await (await self._desktop.backend()).displays.list():
            if display.id == wanted:
                return display_message(display)
        raise not_found("DISPLAY", request.name)

    async def capture_cursor_position(self, request: Any) -> Any:
        backend = await self._desktop.backend()
        if not isinstance(backend.displays, KnowsPointer):
            raise unimplemented("CaptureCursorPosition", "this desktop does not tell where the pointer is.")
        at = await backend.displays.pointer()
        around = [each for each in await backend.displays.list() if each.rect.contains(at)]
        return v1.CaptureCursorPositionResponse(
            x=at.x, y=at.y, display=f"displays/{around[0].id}" if around else ""
        )


def offer_methods(desktop: ServedDesktop) -> DisplayMethods:
    return DisplayMethods(desktop)
