"""Elements: find, click, fill in, act."""

from __future__ import annotations

from typing import Any

import grpc

from toolcrib.bundled.desktop.backend import Backend, Element
from toolcrib.bundled.desktop.elements import acting
from toolcrib.bundled.desktop.elements.pointing import ClickKind
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.grpc.failures import RpcFailure
from toolcrib.bundled.desktop.grpc.messages import rect_of
from toolcrib.bundled.desktop.grpc.names import element_of
from toolcrib.bundled.desktop.grpc.pages import page_of
from toolcrib.bundled.desktop.grpc.schema import v1
from toolcrib.bundled.desktop.grpc.served import ServedDesktop
from toolcrib.bundled.desktop.grpc.targets import (
    FoundElement,
    find_all,
    find_target,
    messages_of,
    read_selector,
)

FOCUS = "focus"
"""Every element has this action, besides its own."""


class ElementMethods:
    def __init__(self, desktop: ServedDesktop) -> None:
        self._desktop = desktop
        self._snapshots = desktop.session.snapshots

    async def find_elements(self, request: Any) -> Any:
        """Always read anew, so `force_refresh` changes nothing."""
        backend = await self._desktop.backend()
        selector = read_selector(request.selector)
        found = await find_all(backend, self._snapshots, request.parent, selector)
        chosen = [each for each in found if each.element.visible] if request.visible_only else found
        page, following = page_of(request, chosen)
        return v1.FindElementsResponse(elements=messages_of(page), next_page_token=following)

    async def find_region_elements(self, request: Any) -> Any:
        backend = await self._desktop.backend()
        selector = read_selector(request.selector) if request.HasField("selector") else None
        region = rect_of(request.region)
        found = await find_all(backend, self._snapshots, request.parent, selector)
        inside = [each for each in found if _overlaps(each.element, region)]
        page, following = page_of(request, inside)
        return v1.FindRegionElementsResponse(elements=messages_of(page), next_page_token=following)

    async def get_element(self, request: Any) -> Any:
        backend, found = await self._named(request.name)
        return found.message(await backend.accessibility.actions(found.element.ref))

    async def get_element_actions(self, request: Any) -> Any:
        backend, found = await self._named(request.name)
        return v1.ElementActions(actions=await backend.accessibility.actions(found.element.ref))

    async def click_element(self, request: Any) -> Any:
        async with self._desktop.turn() as backend:
            found = await find_target(backend, self._snapshots, request)
            await acting.click(backend, found.application, found.element, _click_kind(request.click_type))
        return v1.ClickElementResponse(success=True, element=found.message())

    async def write_element_value(self, request: Any) -> Any:
        async with self._desktop.turn() as backend:
            found = await find_target(backend, self._snapshots, request)
            outcome = await acting.write(backend, found.application, found.element, request.value)
        return v1.WriteElementValueResponse(
            success=outcome.verified is not False, element=(await self._again(backend, found)).message()
        )

    async def perform_element_action(self, request: Any) -> Any:
        async with self._desktop.turn() as backend:
            found = await find_target(backend, self._snapshots, request)
            done = await _perform(backend, found.element, request.action)
        return v1.PerformElementActionResponse(
            success=done, element=(await self._again(backend, found)).message()
        )

    async def _named(self, name: str) -> tuple[Backend, FoundElement]:
        backend = await self._desktop.backend()
        snapshot, element = await self._snapshots.resolve(backend, element_of(name))
        return backend, FoundElement(snapshot.tree.application, snapshot, element)

    async def _again(self, backend: Backend, found: FoundElement) -> FoundElement:
        """The element after an action; as it was before if it has gone."""
        now = await backend.accessibility.read(found.element.ref)
        return FoundElement(found.application, found.snapshot, now) if now is not None else found


def offer_methods(desktop: ServedDesktop) -> ElementMethods:
    return ElementMethods(desktop)


def _overlaps(element: Element, region: Rect) -> bool:
    return element.rect is not None and not element.rect.intersection(region).is_empty


def _click_kind(click_type: int) -> ClickKind:
    kinds: dict[int, ClickKind] = {
        v1.ClickElementRequest.CLICK_TYPE_DOUBLE: "double",
        v1.ClickElementRequest.CLICK_TYPE_RIGHT: "right",
    }
    return kinds.get(click_type, "single")


async def _perform(backend: Backend, element: Element, action: str) -> bool:
    offered = {name.casefold(): name for name in await backend.accessibility.actions(element.ref)}
    name = offered.get(action.strip().casefold())
    if name is not None:
        return await backend.accessibility.act(element.ref, name)
    if action.strip().casefold() == FOCUS:
        return await backend.accessibility.focus(element.ref)
    raise RpcFailure(
        grpc.StatusCode.INVALID_ARGUMENT,
        "INVALID_FORMAT",
        f"The element has no action {action[:60]!r}.",
        {"actions": ", ".join([*offered.values(), FOCUS])},
    )
