"""Elements of programs on Windows: their tree, places, contents and actions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from toolcrib.bundled.desktop.backend import AtPoint, Element, ElementRef, Tree
from toolcrib.bundled.desktop.backends.windows.tree import KnownUiaElements, UiaTreeReader, read_uia_element
from toolcrib.bundled.desktop.backends.windows.uia import (
    Automation,
    Uia,
    UiaElement,
    UiaElementGone,
    UiaProgramSilent,
)
from toolcrib.bundled.desktop.backends.windows.vocabulary import (
    ACTIONS,
    NAME,
    RANGE_PATTERN,
    VALUE_PATTERN,
    VALUE_ROLES,
)
from toolcrib.bundled.desktop.backends.windows.windows import Win32Windows
from toolcrib.bundled.desktop.backends.worker import Worker
from toolcrib.bundled.desktop.geometry import Point, Rect

EXTRA_TIME = 3.0
"""Seconds after its deadline until a reading is given up: the last call may still wait."""
MAX_ENTRIES = 2000


class UiaAccessibility:
    def __init__(self, load: Callable[[], Automation], worker: Worker, windows: Win32Windows) -> None:
        self._uia = Uia(load)
        self._worker = worker
        self._windows = windows
        self._known = KnownUiaElements()

    async def tree(self, application: int, timeout: float) -> Tree:
        handles = [each.id for each in await self._windows.list() if each.application == application]
        reader = UiaTreeReader(self._uia, self._known, application, handles)
        elements = await self._worker.run(reader.read, timeout, timeout=timeout + EXTRA_TIME)
        return Tree(application, elements, reader.complete)

    async def rects(self, elements: Collection[ElementRef]) -> Mapping[ElementRef, Rect]:
        found = await self._worker.run(self._read_all, list(elements))
        return {ref: element.rect for ref, element in found.items() if element.rect is not None}

    async def read(self, element: ElementRef) -> Element | None:
        return await self._worker.run(read_uia_element, self._uia, self._known, element)

    async def at_point(self, element: ElementRef, at: Point) -> AtPoint:
        return AtPoint("unknown")

    async def text_rect(self, element: Element, start: int, end: int) -> Rect | None:
        return None

    async def texts(self, elements: Collection[Element]) -> Mapping[ElementRef, str]:
        found = await self._worker.run(self._read_all, [element.ref for element in elements])
        return {ref: element.text for ref, element in found.items() if element.text is not None}

    async def actions(self, element: ElementRef) -> Sequence[str]:
        return await self._worker.run(self._actions, element)

    async def act(self, element: ElementRef, action: str) -> bool:
        return await self._worker.run(self._act, element, action)

    async def focus(self, element: ElementRef) -> bool:
        return await self._worker.run(self._focus, element)

    async def write(self, element: ElementRef, value: str) -> bool:
        return await self._worker.run(self._write, element, value)

    def _read_all(self, refs: list[ElementRef]) -> dict[ElementRef, Element]:
        """Those that exist; a program that hangs is asked once."""
        found: dict[ElementRef, Element] = {}
        silent: set[str] = set()
        for ref in refs:
            if ref[0] in silent:
                continue
            try:
                element = read_uia_element(self._uia, self._known, ref)
            except UiaProgramSilent:
                silent.add(ref[0])
                continue
            if element is not None:
                found[ref] = element
        return found

    def _actions(self, ref: ElementRef) -> list[str]:
        element = self._known.element(ref)
        if element is None:
            return []
        try:
            values, _ = self._uia.read(element)
        except UiaElementGone:
            return []
        return [name for name, (offered, *_) in ACTIONS.items() if values.get(offered)]

    def _act(self, ref: ElementRef, action: str) -> bool:
        element = self._known.element(ref)
        if element is None or action not in ACTIONS:
            return False
        try:
            return self._try(element, action)
        except UiaProgramSilent:
            return True  # it may have opened a dialog, and answers only when that is closed

    def _focus(self, ref: ElementRef) -> bool:
        element = self._known.element(ref)
        if element is None:
            return False
        try:
            self._uia.do(element.SetFocus)
        except UiaElementGone:
            return False
        return True

    def _write(self, ref: ElementRef, value: str) -> bool:
        """Replace a text, set a value or choose an entry; False if the element does not accept it."""
        before = read_uia_element(self._uia, self._known, ref)
        element = self._known.element(ref)
        if before is None or element is None:
            return False
        if before.role in ("combo box", "list box") and "editable" not in before.states:
            return self._choose(element, value)
        wanted = _number(value) if before.role in VALUE_ROLES and "editable" not in before.states else value
        if wanted is None or not self._set(element, wanted):
            return False
        if before.role == "password text":
            return True
        now = read_uia_element(self._uia, self._known, ref)
        return now is not None and now.text == (f"{wanted:g}" if isinstance(wanted, float) else wanted)

    def _set(self, element: UiaElement, value: str | float) -> bool:
        kind = RANGE_PATTERN if isinstance(value, float) else VALUE_PATTERN
        try:
            pattern = self._uia.pattern(element, *kind)
            if pattern is None:
                return False
            self._uia.do(pattern.SetValue, value)
        except UiaElementGone:  # also the answer of a field that cannot be changed
            return False
        return True

    def _choose(self, container: UiaElement, name: str) -> bool:
        """Select the entry of that name; a combo box has its entries only while it is open."""
        self._try(container, "expand")
        try:
            entry = self._entry(container, name)
            return entry is not None and self._try(entry, "select")
        finally:
            self._try(container, "collapse")

    def _entry(self, container: UiaElement, name: str) -> UiaElement | None:
        _, level = self._uia.read(container)
        for _ in range(2):  # some have a list inside
            below: list[Any] = []
            for element in level[:MAX_ENTRIES]:
                values, children = self._uia.read(element)
                if values.get(NAME) == name:
                    return element
                below += children
            level = below
        return None

    def _try(self, element: UiaElement, action: str) -> bool:
        _, number, interface, method = ACTIONS[action]
        try:
            pattern = self._uia.pattern(element, number, interface)
            if pattern is None:
                return False
            self._uia.do(getattr(pattern, method))
        except UiaElementGone:
            return False
        return True


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None
