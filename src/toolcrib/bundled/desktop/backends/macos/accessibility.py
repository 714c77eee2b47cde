"""Elements of programs on macOS: their tree, places, contents and actions."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

from toolcrib.bundled.desktop.backend import AtPoint, Element, ElementRef, Tree
from toolcrib.bundled.desktop.backends.macos.ax import Ax, AxElement, ElementGone, ProgramSilent
from toolcrib.bundled.desktop.backends.macos.frameworks import Frameworks
from toolcrib.bundled.desktop.backends.macos.permissions import require_accessibility
from toolcrib.bundled.desktop.backends.macos.tree import KnownElements, MacTreeReader, read_element
from toolcrib.bundled.desktop.backends.macos.vocabulary import VALUE_ROLES, action_name
from toolcrib.bundled.desktop.backends.worker import Worker
from toolcrib.bundled.desktop.geometry import Point, Rect

R = TypeVar("R")
EXTRA_TIME = 3.0
"""Seconds after its deadline until a reading is given up: the last call may still wait."""
MENU_PATIENCE = 1.0
POLL = 0.02


class MacAccessibility:
    def __init__(self, mac: Frameworks, worker: Worker) -> None:
        self._mac = mac
        self._ax = Ax(mac)
        self._worker = worker
        self._known = KnownElements()

    async def tree(self, application: int, timeout: float) -> Tree:
        require_accessibility(self._mac)
        reader = MacTreeReader(self._ax, self._known, application)
        elements = await self._worker.run(reader.read, timeout, timeout=timeout + EXTRA_TIME)
        return Tree(application, elements, reader.complete)

    async def rects(self, elements: Collection[ElementRef]) -> Mapping[ElementRef, Rect]:
        found = await self._worker.run(self._read_all, list(elements))
        return {ref: element.rect for ref, element in found.items() if element.rect is not None}

    async def read(self, element: ElementRef) -> Element | None:
        return await self._call(read_element, self._ax, self._known, element)

    async def at_point(self, element: ElementRef, at: Point) -> AtPoint:
        return AtPoint("unknown")

    async def text_rect(self, element: Element, start: int, end: int) -> Rect | None:
        return None

    async def texts(self, elements: Collection[Element]) -> Mapping[ElementRef, str]:
        found = await self._worker.run(self._read_all, [element.ref for element in elements])
        return {ref: element.text for ref, element in found.items() if element.text is not None}

    async def actions(self, element: ElementRef) -> Sequence[str]:
        return await self._call(self._actions, element)

    async def act(self, element: ElementRef, action: str) -> bool:
        return await self._call(self._act, element, action)

    async def focus(self, element: ElementRef) -> bool:
        return await self._call(self._set, element, "AXFocused", True)

    async def write(self, element: ElementRef, value: str) -> bool:
        return await self._call(self._write, element, value)

    async def _call(self, function: Callable[..., R], *arguments: object) -> R:
        require_accessibility(self._mac)
        return await self._worker.run(function, *arguments)

    def _read_all(self, refs: list[ElementRef]) -> dict[ElementRef, Element]:
        """Those that exist; a program that hangs is asked once."""
        found: dict[ElementRef, Element] = {}
        silent: set[str] = set()
        for ref in refs:
            if ref[0] in silent:
                continue
            try:
                element = read_element(self._ax, self._known, ref)
            except ProgramSilent:
                silent.add(ref[0])
                continue
            if element is not None:
                found[ref] = element
        return found

    def _actions(self, ref: ElementRef) -> list[str]:
        element = self._known.element(ref)
        try:
            return [action_name(name) for name in self._ax.actions(element)] if element is not None else []
        except ElementGone:
            return []

    def _act(self, ref: ElementRef, action: str) -> bool:
        element = self._known.element(ref)
        if element is None:
            return False
        try:
            offered = {action_name(name): name for name in self._ax.actions(element)}
            return action in offered and self._ax.perform(element, offered[action])
        except ElementGone:
            return False

    def _set(self, ref: ElementRef, name: str, value: object) -> bool:
        element = self._known.element(ref)
        try:
            return element is not None and self._ax.set(element, name, value)
        except ElementGone:
            return False

    def _write(self, ref: ElementRef, value: str) -> bool:
        """Replace a text, set a value or choose an entry; False if the element does not accept it."""
        before = read_element(self._ax, self._known, ref)
        element = self._known.element(ref)
        if before is None or element is None:
            return False
        if before.role == "combo box" and "editable" not in before.states:
            return self._choose(element, value)
        wanted = _number(value) if before.role in VALUE_ROLES else value
        if wanted is None or not self._set(ref, "AXValue", wanted):
            return False
        if before.role == "password text":
            return True
        now = read_element(self._ax, self._known, ref)
        return now is not None and now.text == (f"{wanted:g}" if isinstance(wanted, float) else wanted)

    def _choose(self, button: AxElement, name: str) -> bool:
        """Open the menu of a pop-up button and choose the entry; close it if there is no such entry."""
        if not self._ax.perform(button, "AXPress"):
            return False
        menu = self._opened_menu(button)
        if menu is None:
            return False
        for item in self._ax.get(menu, "AXChildren") or ():
            if self._ax.get(item, "AXTitle") == name:
                return self._ax.perform(item, "AXPress")
        self._ax.perform(menu, "AXCancel")
        return False

    def _opened_menu(self, button: AxElement) -> AxElement | None:
        deadline = time.monotonic() + MENU_PATIENCE
        while time.monotonic() < deadline:
            for child in self._ax.get(button, "AXChildren") or ():
                if self._ax.get(child, "AXRole") == "AXMenu":
                    return child
            time.sleep(POLL)
        return None


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None
