"""Reads the elements of a program: from its cache where it has one, else node by node. Limits: most elements,
depth; rows of hidden lists are left out.

A cache leaves out what is created on demand, so the children of an element are asked for wherever their
declared number differs from the cached one. What has arrived before the deadline is returned if the program
stops answering.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeVar

from dbus_fast import Message

from toolcrib.bundled.desktop.backend import SHOWN, Element, ElementRef
from toolcrib.bundled.desktop.backends.x11.atspi.bus import (
    ATSPI,
    PATIENCE,
    AccessibilityBus,
    body_of,
    value_of,
)
from toolcrib.bundled.desktop.backends.x11.atspi.calls import NoAnswer
from toolcrib.bundled.desktop.backends.x11.atspi.last_reading import LastReading
from toolcrib.bundled.desktop.backends.x11.atspi.vocabulary import clean_name, role_name, state_names
from toolcrib.bundled.desktop.deadline import PatientTimeout

T = TypeVar("T")
CACHE = "/org/a11y/atspi/cache"
ACCESSIBLE = f"{ATSPI}Accessible"
MAX_ELEMENTS = 50_000
WAVE = 500
"""Elements that are asked at once, so that a deadline finds most of what was read."""
WINDOWS = {"frame", "window", "dialog", "application"}
DEEPEST = 100
LISTS = {"list", "list box", "table", "tree", "tree table"}
"""Their rows are not read while they are hidden: they can be many, and nothing can be done with them."""


class TreeReader:
    """One reading of one program."""

    def __init__(self, bus: AccessibilityBus, root: ElementRef, last: LastReading) -> None:
        self._bus = bus
        self._root = root
        self._last = last
        self._asked: dict[ElementRef, asyncio.Future[Message]] = {}
        """Elements that were asked for their children early."""
        self._found: dict[ElementRef, Element] = {}
        self._place: dict[ElementRef, int] = {}
        """The index of an element among its siblings."""
        self._says_showing = False
        """Whether the program says what is on the screen; GTK 4 says so only of its windows."""
        self.complete = False

    async def read(self, timeout: float) -> tuple[Element, ...]:
        """The elements, parents before children; `complete` says whether these are all."""
        with contextlib.suppress(TimeoutError, NoAnswer):
            async with PatientTimeout(timeout):
                await self._walk(await self._read_cache(timeout))
                self.complete = len(self._found) < MAX_ELEMENTS
        self._last.keep(self._found)
        return self._ordered()

    async def _read_cache(self, timeout: float) -> list[ElementRef]:
        """Take what the cache has; returns the elements whose children it lacks."""
        cache = self._bus.start(self._root[0], CACHE, f"{ATSPI}Cache", "GetItems", patience=timeout)
        patience = max(timeout, PATIENCE)
        self._asked = {ref: self._ask_children(ref, patience) for ref in self._last.incomplete}
        answer = body_of(await cache)
        declared: dict[ElementRef, int] = {}
        for element, children, place in self._last.elements(answer[0] if answer else ()):
            if "defunct" not in element.states:
                self._add(element)
                self._place[element.ref] = place
                declared[element.ref] = children
        if self._root not in self._found:
            await self._read_nodes([(self._root, None)])
            declared |= dict.fromkeys({self._root} & self._found.keys(), -1)
        cached = Counter(element.parent for element in self._found.values())
        incomplete = [
            ref
            for ref, count in declared.items()
            if (count not in (0, cached[ref]) or self._is_window(self._found[ref]))
            and not self._is_hidden_list(self._found[ref])
        ]
        self._last.note_incomplete(incomplete)
        return incomplete

    async def _walk(self, frontier: list[ElementRef]) -> None:
        """Read the children of these, and theirs."""
        listed = await self._children(frontier)
        shown_alone = {
            child
            for parent, children in listed.items()
            if self._is_window(self._found[parent]) and self._is_replaced(parent, children)
            for child in children
        }
        while listed and len(self._found) < MAX_ELEMENTS:
            new: dict[ElementRef, ElementRef] = {}
            for parent, children in listed.items():
                self._place |= {ref: place for place, ref in enumerate(children)}
                new |= {child: parent for child in children if child not in self._found}
            listed = await self._read_nodes(list(new.items()))
        for ref in shown_alone & self._found.keys():
            if self._found[ref].role == "dialog":  # not for a search bar
                states = self._found[ref].states | {"modal"}
                self._found[ref] = dataclasses.replace(self._found[ref], states=states)
                self._place[ref] = -1

    def _is_replaced(self, window: ElementRef, children: list[ElementRef]) -> bool:
        """Whether a window shows only something new instead of the content that the cache has."""
        cached = [element for element in self._found.values() if element.parent == window]
        return bool(cached and children) and not any(element.ref in children for element in cached)

    async def _children(self, refs: list[ElementRef]) -> dict[ElementRef, list[ElementRef]]:
        found: dict[ElementRef, list[ElementRef]] = {}
        for wave in _waves(refs):
            answers = await asyncio.gather(*(self._asked.get(ref) or self._ask_children(ref) for ref in wave))
            found |= {ref: _refs(answer) for ref, answer in zip(wave, answers, strict=True)}
        return found

    def _ask_children(self, ref: ElementRef, patience: float = PATIENCE) -> asyncio.Future[Message]:
        return self._bus.start(*ref, ACCESSIBLE, "GetChildren", patience=patience)

    async def _read_nodes(
        self, nodes: list[tuple[ElementRef, ElementRef | None]]
    ) -> dict[ElementRef, list[ElementRef]]:
        """Read these; returns the children of those that have some, asked for at the same time."""
        listed: dict[ElementRef, list[ElementRef]] = {}
        for wave in _waves(nodes):
            asked = [
                call for ref, _ in wave for call in (*ask_element(self._bus, ref), self._ask_children(ref))
            ]
            answers = iter(await asyncio.gather(*asked))
            for ref, parent in wave:
                element = made_element(ref, parent, next(answers), next(answers), next(answers))
                children = _refs(next(answers))
                if element is None:
                    continue
                self._add(element)
                if children and not self._is_hidden_list(element):
                    listed[ref] = children
        return listed

    def _add(self, element: Element) -> None:
        self._found[element.ref] = element
        if "showing" in element.states and element.role not in WINDOWS:
            self._says_showing = True

    def _is_window(self, element: Element) -> bool:
        """Chromium puts a dialog into a window in the place of its content, which the cache does not tell."""
        return element.parent == self._root and element.role in WINDOWS

    def _is_hidden_list(self, element: Element) -> bool:
        return self._says_showing and element.role in LISTS and "showing" not in element.states

    def _ordered(self) -> tuple[Element, ...]:
        children: dict[ElementRef | None, list[Element]] = {}
        for element in sorted(self._found.values(), key=lambda candidate: self._place.get(candidate.ref, 0)):
            children.setdefault(element.parent, []).append(element)
        ordered: list[Element] = []
        seen: set[ElementRef] = set()
        hidden: set[ElementRef | None] = set()
        starts = [self._found[self._root]] if self._root in self._found else []
        orphans = [candidate for candidate in self._found.values() if candidate.parent not in self._found]
        stack = [*reversed(orphans), *starts]
        while stack:
            element = stack.pop()
            if element.ref not in seen:
                seen.add(element.ref)
                if element.parent in hidden or is_hidden(element):
                    hidden.add(element.ref)
                    # Qt says of what is on a hidden page that it is shown.
                    if element.states & SHOWN:
                        element = dataclasses.replace(element, states=element.states - SHOWN)
                ordered.append(element)
                stack.extend(reversed(children.get(element.ref, [])))
        return tuple(ordered)


async def read_element(
    bus: AccessibilityBus, ref: ElementRef, parent: ElementRef | None = None
) -> Element | None:
    """One element as it is now; None if it does not exist."""
    return made_element(ref, parent, *await asyncio.gather(*ask_element(bus, ref)))


def is_hidden(element: Element) -> bool:
    return element.role != "application" and not element.states & SHOWN


async def is_inside_hidden(bus: AccessibilityBus, around: Sequence[Element]) -> bool:
    """Whether one of these is hidden now."""
    answers = await asyncio.gather(*(bus.start(*element.ref, ACCESSIBLE, "GetState") for element in around))
    bodies = [body_of(answer) for answer in answers]
    now = [
        dataclasses.replace(element, states=state_names(body[0]))
        for element, body in zip(around, bodies, strict=True)
        if body is not None
    ]
    return any(is_hidden(element) for element in now)


async def read_around(bus: AccessibilityBus, ref: ElementRef) -> list[Element]:
    """The element and those around it as they are now, up to the root."""
    chain: list[Element] = []
    while not ref[1].endswith("/null") and len(chain) < DEEPEST:
        element, parent = await asyncio.gather(read_element(bus, ref), bus.get(*ref, "Accessible", "Parent"))
        if element is None:
            break
        chain.append(element)
        if element.role == "application" or parent is None:
            break
        ref = (parent[0], parent[1])
    return chain


def ask_element(bus: AccessibilityBus, ref: ElementRef) -> tuple[asyncio.Future[Message], ...]:
    """The calls whose answers make an element."""
    return (
        bus.start_get(*ref, "Accessible", "Name"),
        bus.start(*ref, ACCESSIBLE, "GetRole"),
        bus.start(*ref, ACCESSIBLE, "GetState"),
    )


def made_element(
    ref: ElementRef, parent: ElementRef | None, name: Message, role: Message, state: Message
) -> Element | None:
    number, words = body_of(role), body_of(state)
    if number is None or words is None:
        return None
    states = state_names(words[0])
    if "defunct" in states or "invalid" in states:
        return None
    return Element(ref, parent, role_name(number[0]), clean_name(value_of(name)), states=states)


def _refs(answer: Message) -> list[ElementRef]:
    body = body_of(answer)
    return [(name, path) for name, path in (body[0] if body else ()) if not path.endswith("/null")]


def _waves(items: list[T]) -> Iterator[list[T]]:
    for start in range(0, len(items), WAVE):
        yield items[start : start + WAVE]
