"""What is kept of the last reading of a program, so that the next costs less; it is still read as a whole.

An element is not made again if the program describes it as before. Elements whose children the program's
cache left out are asked for them right after the cache, without waiting until it has arrived.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from toolcrib.bundled.desktop.backend import Element, ElementRef
from toolcrib.bundled.desktop.backends.x11.atspi.bus import ATSPI
from toolcrib.bundled.desktop.backends.x11.atspi.vocabulary import clean_name, role_name, state_names

MOST_PROGRAMS = 4
MOST_ELEMENTS = 5000
"""Of a program with more, none are kept: they would take much memory."""
DEEPEST = 100
MOST_ASKED = 32
"""Elements that are asked for their children before it is known whether that is needed."""
_OLD_ITEM, _NEW_ITEM = 9, 10


class CachedElement(NamedTuple):
    """An element of a program's cache."""

    element: Element
    children: int
    place: int
    """Its index among its siblings."""


class LastReading:
    """Of one program."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Any, CachedElement]] = {}
        self._incomplete: list[ElementRef] = []
        self.found: Mapping[ElementRef, Element] = {}
        """All elements that were read."""

    @property
    def incomplete(self) -> list[ElementRef]:
        """Elements whose children the cache left out, unless these are many."""
        return self._incomplete if len(self._incomplete) <= MOST_ASKED else []

    def note_incomplete(self, refs: list[ElementRef]) -> None:
        self._incomplete = list(refs)

    def keep(self, found: Mapping[ElementRef, Element]) -> None:
        self.found = found if len(found) <= MOST_ELEMENTS else {}

    def elements(self, items: Sequence[Any]) -> list[CachedElement]:
        """Those that the items of the cache describe."""
        found: dict[str, tuple[Any, CachedElement]] = {}
        for item in items:
            if len(item) not in (_OLD_ITEM, _NEW_ITEM):
                continue
            path = item[0][1]
            known = self._known.get(path)
            found[path] = known if known is not None and known[0] == item else (item, _made(item))
        self._known = found if len(found) <= MOST_ELEMENTS else {}
        return [cached for _, cached in found.values()]


class LastReadings:
    """Of the programs that were read last."""

    def __init__(self) -> None:
        self._of_roots: OrderedDict[ElementRef, LastReading] = OrderedDict()

    def of(self, root: ElementRef) -> LastReading:
        found = self._of_roots.setdefault(root, LastReading())
        self._of_roots.move_to_end(root)
        while len(self._of_roots) > MOST_PROGRAMS:
            self._of_roots.popitem(last=False)
        return found

    def around(self, ref: ElementRef) -> list[Element]:
        """The element and those around it, up to the root; nothing if it was not read."""
        read = next((reading.found for root, reading in self._of_roots.items() if root[0] == ref[0]), {})
        chain: list[Element] = []
        while (element := read.get(ref)) is not None and len(chain) < DEEPEST:
            chain.append(element)
            ref = element.parent or ("", "")
        return chain


def _made(item: Any) -> CachedElement:
    """The older format lists the children instead of their number."""
    if len(item) == _NEW_ITEM:
        ref, _, parent, place, children, interfaces, name, role, description, states = item
    else:
        ref, _, parent, listed, interfaces, name, role, description, states = item
        children, place = len(listed), 0
    element = Element(
        ref=(ref[0], ref[1]),
        parent=(parent[0], parent[1]),
        role=role_name(role),
        name=clean_name(name),
        description=clean_name(description),
        states=state_names(states),
        interfaces=_interfaces(tuple(interfaces)),
    )
    return CachedElement(element, children, place)


@functools.lru_cache(1024)
def _interfaces(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name.removeprefix(ATSPI) for name in names)
