"""Chooses an entry of a combo box with the pointer, for toolkits that offer no selection to accessibility."""

from __future__ import annotations

import asyncio
import time

from toolcrib.bundled.desktop.backend import Backend, Element, ElementRef, Tree
from toolcrib.bundled.desktop.elements.pointing import is_confirmed, point_at
from toolcrib.bundled.desktop.elements.search import read_tree, with_places
from toolcrib.bundled.desktop.geometry import Point, Rect

ENTRY_ROLES = {"menu item", "list item", "table cell", "tree item"}
PATIENCE = 6.0
OPENING = 0.45
"""Seconds: Qt ignores clicks in a list that was opened less than 0.4 s ago."""


async def choose_entry(backend: Backend, application: int, box: Element, name: str) -> bool:
    """Open the list and click the entry of this name; False if there is none. Raises `ClickRefused`."""
    box = (await with_places(backend, [box]))[0]
    closed = await _find(backend, application, box.ref, name)
    await point_at(backend, application, box, "single")
    opened = time.monotonic()
    entry = await _wait_for(backend, application, box.ref, name, closed.rect if closed is not None else None)
    if entry is None:
        await backend.input.press("escape", None)
        return False
    await asyncio.sleep(max(0.0, opened + OPENING - time.monotonic()))
    middle = _middle(entry, box)
    await is_confirmed(backend, entry, middle)
    await backend.input.click(middle, owner=application)
    return True


def _middle(entry: Element, box: Element) -> Point:
    """In the middle of the box, if the entry is there: Qt reports entries that are wider than their list."""
    assert entry.rect is not None
    centre = entry.rect.centre
    below = Point(box.rect.centre.x, centre.y) if box.rect is not None else centre
    return below if entry.rect.contains(below) else centre


async def _wait_for(
    backend: Backend, application: int, box: ElementRef, name: str, closed: Rect | None
) -> Element | None:
    """The entry in the open list. Qt reports a place also while the list is closed, which is wrong."""
    deadline = time.monotonic() + PATIENCE
    with backend.events.listen() as changes:
        while True:
            found = await _find(backend, application, box, name)
            if found is not None and found.rect not in (None, closed):
                return found
            if time.monotonic() > deadline:
                return None
            await changes.next(0.1)


async def _find(backend: Backend, application: int, box: ElementRef, name: str) -> Element | None:
    tree = await read_tree(backend, application)
    named = [each for each in _inside(tree, box) if each.name == name and each.role in ENTRY_ROLES]
    placed = await with_places(backend, named)
    return next((each for each in placed if each.visible), None)


def _inside(tree: Tree, ref: ElementRef) -> list[Element]:
    refs = {ref}
    found: list[Element] = []
    for element in tree.elements:
        if element.parent in refs:
            refs.add(element.ref)
            found.append(element)
    return found
