"""Whole accessibility trees, once or as a stream of changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

from toolcrib.bundled.desktop.backend import Backend, Element, ElementRef
from toolcrib.bundled.desktop.elements.pointing import raise_window
from toolcrib.bundled.desktop.elements.search import search
from toolcrib.bundled.desktop.elements.snapshots import TreeSnapshot
from toolcrib.bundled.desktop.grpc.messages import element_message, paths_of
from toolcrib.bundled.desktop.grpc.names import application_of
from toolcrib.bundled.desktop.grpc.schema import types, v1
from toolcrib.bundled.desktop.grpc.served import ServedDesktop, timestamp
from toolcrib.bundled.desktop.grpc.targets import applications_in

SHORTEST_POLL, LONGEST_POLL, DEFAULT_POLL = 0.1, 60.0, 1.0
COMPARED = ("role", "text", "enabled", "focused", "x", "y", "width", "height")


class TreeMethods:
    def __init__(self, desktop: ServedDesktop) -> None:
        self._desktop = desktop

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
        latest: dict[ElementRef, Element] = {element.ref: element for element in result.matches}
        snapshot: TreeSnapshot = self._desktop.session.snapshots.add(result.tree)
        paths = paths_of(result.tree.elements)
        in_order = [latest.get(element.ref, element) for element in result.tree.elements]
        return [element_message(element, snapshot.id_of(element), paths[element.ref]) for element in in_order]


def offer_methods(desktop: ServedDesktop) -> TreeMethods:
    return TreeMethods(desktop)


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
