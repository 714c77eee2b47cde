"""Reads elements of a program through the Accessibility API."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.bundled.desktop.backend import Element, ElementRef
from toolcrib.bundled.desktop.backends.macos.ax import Ax, AxElement, ElementGone, ProgramSilent
from toolcrib.bundled.desktop.backends.macos.vocabulary import (
    TEXT_ROLES,
    VALUE_ROLES,
    role_name,
    state_names,
)
from toolcrib.bundled.desktop.geometry import Rect

MAX_ELEMENTS = 50_000
MAX_TEXT = 20_000
MAX_NAME = 500
KEPT = 200_000
DEEPEST_MENU = 12
ATTRIBUTES = (
    "AXRole",
    "AXSubrole",
    "AXTitle",
    "AXDescription",
    "AXHelp",
    "AXPlaceholderValue",
    "AXTitleUIElement",
    "AXIdentifier",
    "AXValue",
    "AXPosition",
    "AXSize",
    "AXEnabled",
    "AXFocused",
    "AXSelected",
    "AXExpanded",
    "AXDisclosing",
    "AXModal",
    "AXElementBusy",
    "AXRequired",
    "AXMinimized",
    "AXMain",
    "AXMenuItemMarkChar",
    "AXChildren",
)
MENU_HOLDERS = ("AXMenuBarItem", "AXMenuItem")


class KnownElements:
    """Names elements for the time of the backend. macOS compares elements by what they stand for."""

    def __init__(self) -> None:
        self._elements: OrderedDict[ElementRef, AxElement] = OrderedDict()
        self._refs: dict[AxElement, ElementRef] = {}
        self._count = 0

    def ref(self, process: int, element: AxElement) -> ElementRef:
        known = self._refs.get(element)
        if known is not None:
            self._elements.move_to_end(known)
            return known
        self._count += 1
        made = (str(process), str(self._count))
        self._elements[made], self._refs[element] = element, made
        while len(self._elements) > KEPT:
            _, oldest = self._elements.popitem(last=False)
            self._refs.pop(oldest, None)
        return made

    def element(self, ref: ElementRef) -> AxElement | None:
        return self._elements.get(ref)


@dataclass(frozen=True)
class _Waiting:
    element: AxElement
    parent: ElementRef | None
    area: Rect | None
    """The part of the screen in which it can be seen; None for all."""
    shown: bool


class MacTreeReader:
    """One reading of one program, parents before children."""

    def __init__(self, ax: Ax, known: KnownElements, process: int) -> None:
        self._ax = ax
        self._known = known
        self._process = process
        self.complete = False

    def read(self, timeout: float) -> tuple[Element, ...]:
        """What was read before the deadline; `complete` says whether it is all."""
        deadline = time.monotonic() + timeout
        found: dict[ElementRef, Element] = {}
        queue = deque([_Waiting(self._ax.application(self._process), None, None, True)])
        silent = False
        while queue and time.monotonic() < deadline and len(found) < MAX_ELEMENTS:
            try:
                queue.extend(self._read_one(queue.popleft(), found))
            except ElementGone:
                continue
            except ProgramSilent:
                silent = True
                break
        self.complete = not queue and not silent
        return _ordered(found)

    def _read_one(self, waiting: _Waiting, found: dict[ElementRef, Element]) -> list[_Waiting]:
        """Add it, and return its children."""
        values = self._ax.get_all(waiting.element, ATTRIBUTES)
        ref = self._known.ref(self._process, waiting.element)
        if "AXRole" not in values or ref in found:
            return []
        element = describe(
            self._ax, waiting.element, values, ref, waiting.parent, waiting.area, waiting.shown
        )
        found[ref] = element
        area = element.rect if values["AXRole"] == "AXWindow" else waiting.area
        shown = waiting.shown and (values["AXRole"] not in MENU_HOLDERS or bool(values.get("AXSelected")))
        shown = shown and not values.get("AXMinimized")
        # The cells of a column are those of the rows.
        children = values.get("AXChildren") if values["AXRole"] != "AXColumn" else ()
        return [_Waiting(child, ref, area, shown) for child in children or ()]


def read_element(ax: Ax, known: KnownElements, ref: ElementRef) -> Element | None:
    """One element as it is now; None if it is gone. Raises `ProgramSilent`."""
    element = known.element(ref)
    if element is None:
        return None
    try:
        values = ax.get_all(element, ATTRIBUTES)
        if "AXRole" not in values:
            return None
        return describe(ax, element, values, ref, None, _area(ax, element), _in_open_menu(ax, element))
    except ElementGone:
        return None


def describe(
    ax: Ax,
    element: AxElement,
    values: Mapping[str, Any],
    ref: ElementRef,
    parent: ElementRef | None,
    area: Rect | None,
    shown: bool,
) -> Element:
    raw_role = str(values["AXRole"])
    has_menu = raw_role == "AXMenuItem" and bool(values.get("AXChildren"))
    role = role_name(raw_role, str(values.get("AXSubrole", "")), has_menu=has_menu)
    rect = ax.rect(values.get("AXPosition"), values.get("AXSize"))
    seen = rect is not None and not rect.is_empty and (area is None or not rect.intersection(area).is_empty)
    is_text = role in (TEXT_ROLES | {"password text"})
    editable = is_text and ax.is_settable(element, "AXValue")
    identifier = values.get("AXIdentifier")
    return Element(
        ref=ref,
        parent=parent,
        role=role,
        name=_name(ax, role, values),
        description=str(values.get("AXHelp") or "")[:MAX_NAME],
        states=state_names(role, values, showing=seen and shown, editable=editable),
        rect=rect if seen and shown else None,
        text=text_of(role, values.get("AXValue")),
        attributes={"identifier": str(identifier)} if identifier else {},
    )


def text_of(role: str, value: Any) -> str | None:
    """What a text field contains or which value is set; never of a password field."""
    if role in TEXT_ROLES:
        return str(value)[:MAX_TEXT] if value is not None else ""
    if role in VALUE_ROLES and isinstance(value, int | float):
        return f"{float(value):g}"
    return None


def _name(ax: Ax, role: str, values: Mapping[str, Any]) -> str:
    found = values.get("AXTitle") or values.get("AXDescription")
    if not found and role in ("label", "heading"):
        found = values.get("AXValue")
    if not found and "AXTitleUIElement" in values:
        label = ax.get_all(values["AXTitleUIElement"], ("AXTitle", "AXValue"))
        found = label.get("AXTitle") or label.get("AXValue")
    return " ".join(str(found or values.get("AXPlaceholderValue") or "").split())[:MAX_NAME]


def _area(ax: Ax, element: AxElement) -> Rect | None:
    window = ax.get(element, "AXWindow")
    if window is None:
        return None
    place = ax.get_all(window, ("AXPosition", "AXSize"))
    return ax.rect(place.get("AXPosition"), place.get("AXSize"))


def _in_open_menu(ax: Ax, element: AxElement) -> bool:
    """Whether all menus around it are open; elements outside of menus are in none."""
    parent = ax.get(element, "AXParent")
    for _ in range(DEEPEST_MENU):
        if parent is None:
            return True
        values = ax.get_all(parent, ("AXRole", "AXSelected", "AXParent"))
        if values.get("AXRole") in MENU_HOLDERS and not values.get("AXSelected"):
            return False
        if values.get("AXRole") not in (*MENU_HOLDERS, "AXMenu"):
            return True
        parent = values.get("AXParent")
    return True


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
