"""Elements: find, click, fill in, act."""

from __future__ import annotations

from typing import Any

from toolcrib.bundled.desktop.backend import Element
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.grpc.messages import rect_of
from toolcrib.bundled.desktop.grpc.pages import page_of
from toolcrib.bundled.desktop.grpc.schema import v1
from toolcrib.bundled.desktop.grpc.served import ServedDesktop
from toolcrib.bundled.desktop.grpc.targets import (
    find_all,
    messages_of,
    read_selector,
)


class ElementMethods:
    def __init__(self, desktop: ServedDesktop) -> None:
        self._desktop = desktop
        self._snapshots = desktop.session.snapshots

    async def find_elements(self, request: Any) -> Any:
        """Always read anew, so `force_refresh` changes nothing."""
        backend = await self._desktop.backend()
        selector = read_selector(request.selector)
        found = await find_all(backend, self._snapshots, request.parent, selector)
        chosen = [match for match in found if match.element.visible] if request.visible_only else found
        page, following = page_of(request, chosen)
        return v1.FindElementsResponse(elements=messages_of(page), next_page_token=following)

    async def find_region_elements(self, request: Any) -> Any:
        backend = await self._desktop.backend()
        selector = read_selector(request.selector) if request.HasField("selector") else None
        region = rect_of(request.region)
        found = await find_all(backend, self._snapshots, request.parent, selector)
        inside = [match for match in found if _overlaps(match.element, region)]
        page, following = page_of(request, inside)
        return v1.FindRegionElementsResponse(elements=messages_of(page), next_page_token=following)


def offer_methods(desktop: ServedDesktop) -> ElementMethods:
    return ElementMethods(desktop)


def _overlaps(element: Element, region: Rect) -> bool:
    return element.rect is not None and not element.rect.intersection(region).is_empty
