"""RPCs for elements: found, waited for, or as whole accessibility trees, once or as a stream of changes.
Decides poll intervals, timeouts, and which changes are compared."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from toolcrib.bundled.desktop.backend import Backend, Element
from toolcrib.bundled.desktop.elements.pointing import raise_window
from toolcrib.bundled.desktop.elements.search import search
from toolcrib.bundled.desktop.elements.selector import attribute, is_enabled
from toolcrib.bundled.desktop.failures import ElementNotFound
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.grpc.failures import invalid
from toolcrib.bundled.desktop.grpc.messages import element_message, paths_of, rect_of, selector_value
from toolcrib.bundled.desktop.grpc.operations import Progress
from toolcrib.bundled.desktop.grpc.records import page_of
from toolcrib.bundled.desktop.grpc.schema import types, v1
from toolcrib.bundled.desktop.grpc.served import ServedDesktop, timestamp
from toolcrib.bundled.desktop.grpc.targets import (
    FoundElement,
    application_of,
    applications_in,
    find_all,
    messages_of,
    read_selector,
)
from toolcrib.bundled.desktop.operations.elements import find_target

SHORTEST_POLL, LONGEST_POLL, DEFAULT_POLL = 0.1, 60.0, 1.0
COMPARED = ("role", "text", "enabled", "focused", "x", "y", "width", "height")
DEFAULT_TIMEOUT, LONGEST_TIMEOUT = 30.0, 3600.0

Look = Callable[[Backend], Awaitable[FoundElement | None]]


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

    async def traverse_accessibility(self, request: Any) -> Any:
        backend = await self._desktop.backend()
        application = await self._application(backend, request.name)
        if request.activate:
            async with self._desktop.turn():
                await raise_window(backend, application, None)
        all_elements = await self._read(backend, application)
        shown = (
            [element for element in all_elements if _is_visible(element)]
            if request.visible_only
            else all_elements
        )
        return v1.TraverseAccessibilityResponse(
            app=request.name,
            elements=shown,
            stats=_stats(shown, len(all_elements)),
            processing_time=timestamp(),
        )

    async def watch_accessibility(self, request: Any) -> AsyncIterator[Any]:
        """Ends when the client cancels, or with an error when the application has gone."""
        pause = poll_interval(request.poll_interval)
        before: dict[str, Any] = {}
        while True:
            backend = await self._desktop.backend()
            with backend.events.listen() as changes:
                application = await self._application(backend, request.name)
                elements = await self._read(backend, application)
                shown = [element for element in elements if _is_visible(element) or not request.visible_only]
                now = {_identity(element): element for element in shown}
                if (change := compare(before, now)) is not None:
                    yield change
                before = now
                await changes.next(pause)
                # Reading a tree can itself cause events: they must not set the pace.
                await changes.settled(SHORTEST_POLL, pause)

    async def _application(self, backend: Backend, name: str) -> int:
        application_of(name)
        return (await applications_in(backend, name))[0]

    async def _read(self, backend: Backend, application: int) -> list[Any]:
        result = await search(backend, application, None)
        latest = {element.ref: element for element in result.matches}
        snapshot = self._snapshots.add(result.tree)
        paths = paths_of(result.tree.elements)
        in_order = [latest.get(element.ref, element) for element in result.tree.elements]
        return [element_message(element, snapshot.id_of(element), paths[element.ref]) for element in in_order]

    async def wait_element(self, request: Any) -> Any:
        selector = read_selector(request.selector)

        async def look(backend: Backend) -> FoundElement | None:
            found = await find_all(backend, self._snapshots, request.parent, selector)
            return next((match for match in found if match.element.visible), None)

        metadata = v1.WaitElementMetadata(selector=request.selector)
        return self._start("waitElement", request, look, metadata, v1.WaitElementResponse)

    async def wait_element_state(self, request: Any) -> Any:
        wanted = read_condition(request.condition)
        if request.WhichOneof("target") is None:
            raise invalid("EMPTY_FIELD", "Neither element_id nor selector is given.", "target")
        selector = None
        if request.WhichOneof("target") == "selector":
            read_selector(request.selector)
            selector = selector_value(request.selector)

        async def look(backend: Backend) -> FoundElement | None:
            try:
                snapshot, element, _ = await find_target(
                    self._desktop, backend, request.element_id or None, selector, request.parent
                )
            except ElementNotFound:
                return None
            return FoundElement(snapshot.tree.application, snapshot, element) if wanted(element) else None

        metadata = v1.WaitElementStateMetadata(condition=request.condition)
        return self._start("waitElementState", request, look, metadata, v1.WaitElementStateResponse)

    def _start(self, kind: str, request: Any, look: Look, metadata: Any, response: Any) -> Any:
        async def work(progress: Progress) -> Any:
            def attempted(attempts: int) -> None:
                made = type(metadata)(attempts=attempts)
                made.MergeFrom(metadata)
                progress(made)

            return response(element=(await self._wait(request, look, attempted)).message())

        return self._desktop.operations.start(kind, metadata, work)

    async def _wait(self, request: Any, look: Look, attempted: Callable[[int], None]) -> FoundElement:
        """Look after each change, and at least every poll interval; raises `TimeoutError`."""
        pause = poll_interval(request.poll_interval)
        backend = await self._desktop.backend()
        attempts = 0
        async with asyncio.timeout(min(request.timeout or DEFAULT_TIMEOUT, LONGEST_TIMEOUT)):
            with backend.events.listen() as changes:
                while True:
                    attempts += 1
                    attempted(attempts)
                    if (found := await look(backend)) is not None:
                        return found
                    await changes.next(pause)
                    # Reading a tree can itself cause events: they must not set the pace.
                    await asyncio.sleep(SHORTEST_POLL)


offer_methods = ElementMethods


def _overlaps(element: Element, region: Rect) -> bool:
    return element.rect is not None and not element.rect.intersection(region).is_empty


def poll_interval(seconds: float) -> float:
    return min(max(seconds, SHORTEST_POLL), LONGEST_POLL) if seconds > 0 else DEFAULT_POLL


def compare(before: dict[str, Any], now: dict[str, Any]) -> Any | None:
    """What came, went and changed; None if nothing did."""
    change = v1.WatchAccessibilityResponse(
        added=[element for key, element in now.items() if key not in before],
        removed=[element for key, element in before.items() if key not in now],
    )
    for key in now.keys() & before.keys():
        if differences := _differences(before[key], now[key]):
            change.modified.add(old_element=before[key], new_element=now[key], changes=differences)
    return change if change.added or change.removed or change.modified else None


def _differences(old: Any, new: Any) -> list[Any]:
    changed = [name for name in COMPARED if getattr(old, name) != getattr(new, name)]
    return [
        v1.AttributeChange(
            attribute=name, old_value=str(getattr(old, name)), new_value=str(getattr(new, name))
        )
        for name in changed
    ]


def _identity(element: Any) -> str:
    """Ids are new with each reading, so an element is known by its place in the tree and its role."""
    return f"{'.'.join(map(str, element.path))}:{element.role}:{element.attributes.get('name', '')}"


def _is_visible(element: Any) -> bool:
    states = set(element.attributes.get("states", "").split(","))
    return "showing" in states or ("visible" in states and element.width > 0)


def _stats(shown: list[Any], total: int) -> Any:
    with_text = sum(1 for element in shown if element.HasField("text"))
    return types.TraversalStats(
        count=len(shown),
        excluded_count=total - len(shown),
        text_elements_count=with_text,
        non_text_elements_count=len(shown) - with_text,
        visible_elements_count=sum(map(_is_visible, shown)),
        role_counts=Counter(element.role for element in shown),
    )


def read_condition(condition: Any) -> Callable[[Element], bool]:
    kind = condition.WhichOneof("condition")
    value = getattr(condition, kind) if kind else None
    if kind == "enabled":
        return lambda element: is_enabled(element) == value
    if kind == "focused":
        return lambda element: ("focused" in element.states) == value
    if kind == "text_equals":
        return lambda element: value in _texts(element)
    if kind == "text_contains":
        return lambda element: any(str(value) in text for text in _texts(element))
    if kind == "attribute" and value is not None:
        return lambda element: attribute(element, value.attribute) == value.value
    raise invalid("EMPTY_FIELD", "The condition is empty.", "condition")


def _texts(element: Element) -> list[str]:
    return [text for text in (element.text, element.name) if text is not None]
