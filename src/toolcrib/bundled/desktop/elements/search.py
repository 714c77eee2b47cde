"""Finds elements that match a selector, again and again until there are some or time is over: visible ones
before hidden ones, how long to wait for pages that load, and which contents are read."""

from __future__ import annotations

import asyncio
import dataclasses
import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from toolcrib.bundled.desktop.backend import (
    PARAGRAPH_ROLES,
    SHOWN,
    TEXT_ROLES,
    Backend,
    Element,
    ElementRef,
    ElementTree,
)
from toolcrib.bundled.desktop.elements.selector import Selector
from toolcrib.bundled.desktop.elements.web_pages import page_around, pages_of
from toolcrib.bundled.desktop.modality import blocked_elements

READ_TIMEOUT = 2.0
"""Seconds for one reading of a tree; what was read by then is returned."""
POLL = 0.25
"""Not every program reports every change, so a wait also looks without one."""
SHORTEST_PAUSE = 0.05
HIDDEN_PATIENCE = 1.0
"""Entries of a closed menu match at once; what is being opened becomes visible within this."""
LOADING_PATIENCE = 3.0
"""Seconds for a page to load and to be drawn: a click before that would be lost."""
MAX_PLACES = 1500
MAX_TEXTS = 200
VALUE_ROLES = {"slider", "spin button", "progress bar", "dial"}


@dataclass(frozen=True)
class ElementSearch:
    tree: ElementTree
    matches: tuple[Element, ...]
    """With their places and contents."""
    blocked: Mapping[ElementRef, str] = field(default_factory=dict)
    """Elements behind a modal dialog, with its title."""

    @property
    def meant(self) -> tuple[Element, ...]:
        """The matches that a selector for one element means: those that can be used before others."""
        free = tuple(
            element for element in self.matches if element.visible and element.ref not in self.blocked
        )
        return free or tuple(element for element in self.matches if element.visible) or self.matches


async def read_tree(backend: Backend, application: int, timeout: float = READ_TIMEOUT) -> ElementTree:
    tree = await backend.accessibility.tree(application, timeout)
    pages_of(backend).note(tree)
    return tree


async def search(
    backend: Backend, application: int, selector: Selector | None, timeout: float = READ_TIMEOUT
) -> ElementSearch:
    """All matches: those that a modal dialog does not block first, and of these the visible ones."""
    tree = await read_tree(backend, application, timeout)
    blocked = blocked_elements(tree, await backend.windows.list())
    elements: Sequence[Element] = sorted(tree.elements, key=lambda element: element.ref in blocked)
    tree = dataclasses.replace(tree, elements=tuple(elements))
    if selector is None or selector.needs_places:
        elements = await with_places(backend, elements)
    elements = await with_texts(backend, elements)
    tree = dataclasses.replace(tree, elements=tuple(elements))
    matches = [element for element in elements if selector is None or selector.matches(element)]
    if selector is not None and not selector.needs_places:
        matches = list(await with_places(backend, matches))
    matches.sort(key=lambda element: (element.ref in blocked, not element.visible))
    return ElementSearch(tree, tuple(matches), blocked)


async def wait_for(
    backend: Backend, application: int, selector: Selector | None, timeout: float
) -> ElementSearch:
    """The first search with a visible match in what has loaded; others only if none of these comes soon."""
    started = time.monotonic()
    deadline = started + timeout
    with backend.events.listen() as changes:
        while True:
            began = time.monotonic()
            result = await search(backend, application, selector)
            took = time.monotonic() - began
            left = deadline - time.monotonic()
            if left <= 0 or time.monotonic() - started > _patience(result):
                return result
            await changes.next(min(POLL, left))
            # Reading a tree can itself cause events: without a pause, both sides would keep each other busy.
            await asyncio.sleep(min(max(SHORTEST_PAUSE, took), left))


def _patience(result: ElementSearch) -> float:
    """How many seconds to look for something better than this."""
    visible = next((element for element in result.matches if element.visible), None)
    if visible is None:
        return HIDDEN_PATIENCE if result.matches else math.inf
    page = page_around(result.tree, visible)
    return LOADING_PATIENCE if page is not None and "busy" in page.states else 0.0


async def with_places(backend: Backend, elements: Sequence[Element]) -> list[Element]:
    """The elements with their rectangles, which are asked for all at once."""
    candidates = [element.ref for element in elements if element.states & SHOWN][:MAX_PLACES]
    places = await backend.accessibility.rects(candidates)
    return [
        dataclasses.replace(element, rect=places[element.ref]) if element.ref in places else element
        for element in elements
    ]


async def with_texts(backend: Backend, elements: Sequence[Element]) -> list[Element]:
    """The elements with what a user can read in them."""
    containers = {element.parent for element in elements}
    return await filled(backend, elements, lambda element: _has_contents(element, containers))


async def filled(
    backend: Backend, elements: Sequence[Element], has_text: Callable[[Element], bool]
) -> list[Element]:
    """The elements with the contents of the first of those that have some."""
    fields = [element for element in elements if has_text(element)][:MAX_TEXTS]
    texts = await backend.accessibility.texts(fields)
    return [
        dataclasses.replace(element, text=texts[element.ref]) if element.ref in texts else element
        for element in elements
    ]


def _has_contents(element: Element, containers: Collection[ElementRef | None]) -> bool:
    """Whether a user can read or change its contents; GTK 4 marks what is on the screen as visible only."""
    if not element.states & SHOWN:
        return False
    if "editable" in element.states or element.role in VALUE_ROLES or element.role in TEXT_ROLES:
        return True
    return element.role in PARAGRAPH_ROLES and not element.name and element.ref not in containers
