"""Reads elements of a program through UI Automation."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from typing import Any

from toolcrib.bundled.desktop.backend import Element, ElementRef
from toolcrib.bundled.desktop.backends.windows.uia import Uia, UiaElement, UiaElementGone, UiaProgramSilent
from toolcrib.bundled.desktop.backends.windows.vocabulary import (
    AUTOMATION_ID,
    BOUNDING_RECTANGLE,
    CLASS_NAME,
    HAS_RANGE,
    HAS_TEXT,
    HAS_VALUE,
    HELP_TEXT,
    IS_OFFSCREEN,
    NAME,
    RANGE_VALUE,
    RUNTIME_ID,
    TEXT_PATTERN,
    TEXT_ROLES,
    VALUE,
    VALUE_ROLES,
    role_name,
    state_names,
)
from toolcrib.bundled.desktop.geometry import Rect

MAX_ELEMENTS = 50_000
MAX_TEXT = 20_000
MAX_NAME = 500
KEPT = 200_000


class KnownUiaElements:
    """Elements by their runtime ids, which last as long as the elements."""

    def __init__(self) -> None:
        self._elements: OrderedDict[ElementRef, UiaElement] = OrderedDict()

    def add(self, process: int, runtime_id: Sequence[int], element: UiaElement) -> ElementRef:
        ref = (str(process), ".".join(map(str, runtime_id)))
        self._elements[ref] = element
        self._elements.move_to_end(ref)
        while len(self._elements) > KEPT:
            self._elements.popitem(last=False)
        return ref

    def element(self, ref: ElementRef) -> UiaElement | None:
        return self._elements.get(ref)


class UiaTreeReader:
    """One reading of one program, parents before children."""

    def __init__(self, uia: Uia, known: KnownUiaElements, process: int, handles: Sequence[int]) -> None:
        self._uia = uia
        self._known = known
        self._process = process
        self._handles = handles
        self.complete = False

    def read(self, timeout: float) -> tuple[Element, ...]:
        """What was read before the deadline; `complete` says whether it is all."""
        deadline = time.monotonic() + timeout
        found: dict[ElementRef, Element] = {}
        silent = False
        queue: deque[tuple[UiaElement, ElementRef | None]] = deque()
        try:
            queue.extend((each, None) for each in self._uia.windows(self._process, self._handles))
            while queue and time.monotonic() < deadline and len(found) < MAX_ELEMENTS:
                queue.extend(self._read_one(*queue.popleft(), found))
        except UiaProgramSilent:
            silent = True
        self.complete = not queue and not silent
        return _ordered(found)

    def _read_one(
        self, element: UiaElement, parent: ElementRef | None, found: dict[ElementRef, Element]
    ) -> list[tuple[UiaElement, ElementRef | None]]:
        """Add it, and return its children with it as their parent."""
        try:
            values, children = self._uia.read(element)
        except UiaElementGone:
            return []
        ref = self._known.add(self._process, values.get(RUNTIME_ID) or (), element)
        if ref in found:
            return []
        found[ref] = describe(values, ref, parent)
        return [(child, ref) for child in children]


def read_uia_element(uia: Uia, known: KnownUiaElements, ref: ElementRef) -> Element | None:
    """One element as it is now, with its text; None if it is gone. Raises `UiaProgramSilent`."""
    element = known.element(ref)
    if element is None:
        return None
    try:
        values, _ = uia.read(element)
    except UiaElementGone:
        return None
    text = long_text(uia, element, values)
    return describe(values, ref, None, text)


def describe(
    values: Mapping[int, Any], ref: ElementRef, parent: ElementRef | None, text: str | None = None
) -> Element:
    role = role_name(values)
    rect = _rect(values.get(BOUNDING_RECTANGLE))
    showing = rect is not None and not values.get(IS_OFFSCREEN)
    attributes = {"automation id": values.get(AUTOMATION_ID), "class": values.get(CLASS_NAME)}
    return Element(
        ref=ref,
        parent=parent,
        role=role,
        name=" ".join(str(values.get(NAME) or "").split())[:MAX_NAME],
        description=str(values.get(HELP_TEXT) or "")[:MAX_NAME],
        states=state_names(role, values, showing=showing),
        rect=rect if showing else None,
        text=text if text is not None else short_text(role, values),
        attributes={name: str(value) for name, value in attributes.items() if value},
    )


def short_text(role: str, values: Mapping[int, Any]) -> str | None:
    """What a text field contains or which value is set; never of a password field."""
    if role in TEXT_ROLES and values.get(HAS_VALUE):
        return str(values.get(VALUE) or "")[:MAX_TEXT]
    number = values.get(RANGE_VALUE)
    if role in VALUE_ROLES and values.get(HAS_RANGE) and isinstance(number, int | float):
        return f"{float(number):g}"
    return None


def long_text(uia: Uia, element: UiaElement, values: Mapping[int, Any]) -> str | None:
    """Of a document that offers no value; None for other elements."""
    if role_name(values) not in TEXT_ROLES or values.get(HAS_VALUE) or not values.get(HAS_TEXT):
        return None
    try:
        pattern = uia.pattern(element, *TEXT_PATTERN)
        return str(uia.do(pattern.DocumentRange.GetText, MAX_TEXT)) if pattern is not None else None
    except UiaElementGone:
        return None


def _rect(bounds: Sequence[float] | None) -> Rect | None:
    """Left, top, width and height; empty or endless ones are on no screen."""
    if bounds is None or len(bounds) != 4 or not all(abs(number) < 1 << 20 for number in bounds):
        return None
    rect = Rect(*(round(number) for number in bounds))
    return None if rect.is_empty else rect


def _ordered(found: dict[ElementRef, Element]) -> tuple[Element, ...]:
    """Each followed by its children."""
    children: dict[ElementRef | None, list[Element]] = {}
    for element in found.values():
        children.setdefault(element.parent, []).append(element)
    ordered: list[Element] = []
    stack = list(reversed(children.get(None, [])))
    while stack:
        element = stack.pop()
        ordered.append(element)
        stack.extend(reversed(children.get(element.ref, [])))
    return tuple(ordered)
