"""Web pages: browsers list their elements before scripts run and before they accept input. Decides how long
to wait after a page has loaded."""

from __future__ import annotations

import asyncio
import math
import time
import weakref
from collections.abc import Awaitable, Callable

from toolcrib.bundled.desktop.backend import Backend, Element, ElementRef, ElementTree
from toolcrib.bundled.desktop.deadline import slowness

DOCUMENTS = {"document web", "document frame"}
FIRST_PAINT = 0.6
"""Seconds after loading. Chromium drops all input until it has painted a page, and waits up to 0.5 s for text
or pictures to paint."""
MAX_BROWSERS = 100


def page_around(tree: ElementTree, element: Element) -> Element | None:
    """The page that an element is in; its state `busy` says that it is loading."""
    return next((outer for outer in tree.around(element) if outer.role in DOCUMENTS), None)


class LoadedPages:
    """When the pages of one desktop were first seen loaded."""

    def __init__(
        self,
        *,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._now = now
        self._sleep = sleep
        self._seen: dict[int, dict[ElementRef, float]] = {}

    def note(self, tree: ElementTree) -> None:
        known, now = self._seen.pop(tree.application, {}), self._now()
        pages = [page for page in tree.elements if page.role in DOCUMENTS and "busy" not in page.states]
        seen = {} if tree.complete else dict(known)
        seen |= {page.ref: known.get(page.ref, now) for page in pages}
        if seen:
            self._seen[tree.application] = seen
        while len(self._seen) > MAX_BROWSERS:
            del self._seen[next(iter(self._seen))]

    async def accept_input(self, application: int) -> None:
        """Wait until every page of the application that was seen has certainly been painted."""
        newest = max(self._seen.get(application, {}).values(), default=-math.inf)
        patience = FIRST_PAINT * (1 + slowness()) / 2
        await self._sleep(max(0.0, newest + patience - self._now()))


_LOADED: weakref.WeakKeyDictionary[Backend, LoadedPages] = weakref.WeakKeyDictionary()


def pages_of(backend: Backend) -> LoadedPages:
    return _LOADED.setdefault(backend, LoadedPages())
