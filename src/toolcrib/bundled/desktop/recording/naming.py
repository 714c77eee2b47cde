"""Finds the element at a place, and a selector that matches it alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolcrib.bundled.desktop.backend import Element
from toolcrib.bundled.desktop.choosing import window_at
from toolcrib.bundled.desktop.elements.pointing import MENU_ROLES
from toolcrib.bundled.desktop.elements.selector import attribute, parse_selector
from toolcrib.bundled.desktop.geometry import Point
from toolcrib.bundled.desktop.recording.view import Look

CLICKABLE = MENU_ROLES | {
    "push button",
    "toggle button",
    "check box",
    "radio button",
    "combo box",
    "text",
    "entry",
    "password text",
    "spin button",
    "slider",
    "link",
    "page tab",
    "list item",
    "tree item",
    "table cell",
    "icon",
}
MAX_NAME = 200
_TELLING = ("multi_line", "single_line", "checkable", "editable")
"""Attributes that tell elements of one role apart and do not change."""


def element_at(look: Look, point: Point) -> Element | None:
    """What a click there means: the innermost element that can be clicked, or the smallest one."""
    there = [each for each in look.elements if each.visible and each.rect and each.rect.contains(point)]
    if not there:
        return None
    window = window_at(look.windows, point)
    in_front = window is None or window.application == look.application
    clickable = [each for each in there if each.role in CLICKABLE]
    if not in_front:  # a menu may reach over the windows of others
        clickable = there = [each for each in there if each.role in MENU_ROLES]
    return min(clickable or there, key=_area, default=None)


def selector_for(look: Look, element: Element) -> dict[str, Any] | None:
    """The shortest selector that matches this visible element alone; None if there is none."""
    for candidate in _candidates(element):
        selector = parse_selector(candidate)
        matches = [each for each in look.elements if each.visible and selector.matches(each)]
        if [each.ref for each in matches] == [element.ref]:
            return candidate
    return None


def _candidates(element: Element) -> Iterator[dict[str, Any]]:
    """By name first. What a field contains is not used: it may be private, and another one next time."""
    role = {"role": element.role}
    if element.name.strip() and len(element.name) <= MAX_NAME:
        yield {**role, "text": element.name}
    if element.description.strip() and len(element.description) <= MAX_NAME:
        yield {**role, "text": element.description}
    yield role
    yield {"attributes": role}  # exactly this role: as a selector, `text` also means password fields
    for name in _TELLING:
        value = {"attributes": {name: attribute(element, name)}}
        yield {**role, **value}
        if element.name.strip():
            yield {**role, "text": element.name[:MAX_NAME], **value}


def _area(element: Element) -> int:
    return element.rect.width * element.rect.height if element.rect is not None else 0
