"""Ids of elements that a model can use, each bound to the snapshot in which the element was seen: how many
snapshots are remembered, when an id is refused as stale, and the nearest match that is suggested.

An id never means another element: before it is used the element is read again, and if it has gone or
changed the id is refused, with the nearest match as it is now.
"""

from __future__ import annotations

import difflib
from collections import OrderedDict
from dataclasses import dataclass, field

from toolcrib.bundled.desktop.backend import Backend, Element, ElementTree
from toolcrib.serverkit.context import ToolFailure

KEPT = 24
SEARCH_TIMEOUT = 1.5
GOOD_ENOUGH = 0.55


class StaleElement(ToolFailure):
    """The element of an id has gone or is another one now."""

    kind = "stale_element"
    reason = "ELEMENT_NOT_FOUND"


@dataclass
class TreeSnapshot:
    """The elements of one application at one moment."""

    name: str
    tree: ElementTree
    _ids: dict[str, Element] = field(default_factory=dict)
    _names: dict[tuple[str, str], str] = field(default_factory=dict)

    def id_of(self, element: Element) -> str:
        """The id under which a model can name the element."""
        if element.ref not in self._names:
            made = f"{self.name}e{len(self._ids) + 1}"
            self._names[element.ref] = made
            self._ids[made] = element
        return self._names[element.ref]

    def element(self, name: str) -> Element | None:
        return self._ids.get(name)


class Snapshots:
    """The last snapshots."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, TreeSnapshot] = OrderedDict()
        self._count = 0

    def add(self, tree: ElementTree) -> TreeSnapshot:
        self._count += 1
        made = TreeSnapshot(f"s{self._count}", tree)
        self._kept[made.name] = made
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return made

    def find(self, element_id: str) -> tuple[TreeSnapshot, Element]:
        """The element as it was seen; raises `StaleElement` for a forgotten snapshot."""
        snapshot = self._kept.get(element_id.strip().partition("e")[0])
        element = snapshot.element(element_id.strip()) if snapshot is not None else None
        if snapshot is None or element is None:
            raise StaleElement(
                f"There is no element {element_id!r}, or its snapshot is too old.",
                "Call find_elements again.",
            )
        return snapshot, element

    async def resolve(self, backend: Backend, element_id: str) -> tuple[TreeSnapshot, Element]:
        """The element as it is now; raises `StaleElement` if it has gone or changed."""
        snapshot, seen = self.find(element_id)
        now = await backend.accessibility.read(seen.ref)
        if now is not None and is_same(seen, now):
            return snapshot, now
        raise await self._stale(backend, snapshot, seen, now)

    async def _stale(
        self, backend: Backend, snapshot: TreeSnapshot, seen: Element, now: Element | None
    ) -> StaleElement:
        tree = await backend.accessibility.tree(snapshot.tree.application, SEARCH_TIMEOUT)
        fresh = self.add(tree)
        nearest = find_nearest(seen, tree)
        was = describe(seen)
        became = "no longer exists" if now is None else f"is now {describe(now)}"
        if nearest is None:
            return StaleElement(f"{was} {became}.", "Nothing was done. Call find_elements again.")
        return StaleElement(
            f"{was} {became}, so nothing was done.",
            f"The nearest match now is {fresh.id_of(nearest)}: {describe(nearest)}.",
        )


def is_same(seen: Element, now: Element) -> bool:
    """Whether an element still is what a model saw; its state and place may differ."""
    return seen.role == now.role and seen.name == now.name


def describe(element: Element) -> str:
    return f"{element.role} {element.name!r}" if element.name else element.role


def find_nearest(seen: Element, tree: ElementTree) -> Element | None:
    """The most similar element: same role, similar name, nearby."""
    scored = [(_likeness(seen, element), element) for element in tree.elements if element.role == seen.role]
    best = max(scored, key=lambda pair: pair[0], default=None)
    return best[1] if best is not None and best[0] >= GOOD_ENOUGH else None


def _likeness(seen: Element, element: Element) -> float:
    names = difflib.SequenceMatcher(None, seen.name.casefold(), element.name.casefold()).ratio()
    return names + (0.1 if element.visible else 0) + (0.05 if element.ref == seen.ref else 0)
