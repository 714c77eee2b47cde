"""Clicks elements with the pointer: brings their window to the front, and opens the menus around them.
Decides how long to wait for menus and windows, and the errors for elements that are covered or beyond the
edge."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from toolcrib.bundled.desktop.backend import Backend, ClickRefused, Element, Window
from toolcrib.bundled.desktop.elements.search import read_tree
from toolcrib.bundled.desktop.elements.snapshots import describe
from toolcrib.bundled.desktop.elements.web_pages import pages_of
from toolcrib.bundled.desktop.geometry import Point
from toolcrib.bundled.desktop.modality import names_of
from toolcrib.serverkit.context import ToolFailure

ClickKind = Literal["single", "double", "right"]
MENU_ROLES = {"menu", "menu item", "check menu item", "radio menu item"}
MENU_PATIENCE = 1.0
MOVING_PATIENCE = 2.0
"""Seconds for a window that moves, or what it reports of itself, to settle."""
RETRY_PAUSE = 0.05
COVERED_PATIENCE = 0.5
"""Seconds for what covers an element to go; also, Chromium's first answer about a point is an estimate."""


class OtherElement(ClickRefused):
    """The program itself says that another element is where the pointer would act."""


@dataclass(frozen=True)
class Located:
    """Where the pointer acts on an element."""

    point: Point
    window: Window | None
    """In front; None if the element is in a popup."""
    confirmed: bool
    """The program says that the element is there; otherwise it does not say what is."""


async def point_at(backend: Backend, application: int, element: Element, kind: ClickKind) -> Located:
    """Click in the middle of an element; again if its window moves meanwhile. Raises `ClickRefused`."""
    deadline = time.monotonic() + MOVING_PATIENCE
    while True:
        try:
            return await _point_at(backend, application, element, kind)
        except OtherElement:
            raise
        except ClickRefused:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(RETRY_PAUSE)


async def _point_at(backend: Backend, application: int, element: Element, kind: ClickKind) -> Located:
    located = await locate(backend, application, element)
    await backend.input.click(
        located.point,
        button="right" if kind == "right" else "left",
        count=2 if kind == "double" else 1,
        owner=application,
        unmoved=located.window,
    )
    return located


async def locate(backend: Backend, application: int, element: Element) -> Located:
    """The middle of what is visible of an element. Raises `ClickRefused`."""
    await pages_of(backend).accept_input(application)
    window = await raise_window(backend, application, element)
    # After the window, because the place is only valid while the window is where it was before.
    now = await backend.accessibility.read(element.ref)
    if now is None or now.rect is None or not now.visible:
        raise ClickRefused(
            f"{describe(element)} is not on the screen.", "Open the menu, tab or page it is in."
        )
    part = now.rect.intersection(window.rect) if window is not None else now.rect
    part = part if not part.is_empty else now.rect
    shown = [part.intersection(display.rect) for display in await backend.displays.list()]
    point = max(shown, key=lambda area: area.width * area.height, default=part).centre
    if not part.contains(point):
        raise ClickRefused(f"{describe(element)} is beyond the edge of the screen.", "Move its window.")
    return Located(point, window, await is_confirmed(backend, element, point))


async def is_confirmed(backend: Backend, element: Element, at: Point) -> bool:
    """Whether the program says that the element is there; raises `OtherElement` if it says otherwise."""
    deadline = time.monotonic() + COVERED_PATIENCE
    while (found := await backend.accessibility.at_point(element.ref, at)).state == "other":
        if time.monotonic() > deadline:
            there = describe(found.element) if found.element is not None else "another element"
            raise OtherElement(
                f"The program has {there} at {at.x},{at.y}, not {describe(element)}, so nothing was done.",
                "Close what covers it, scroll to it, or open the page it is in; see take_screenshot.",
            )
        await asyncio.sleep(RETRY_PAUSE)
    return found.state == "there"


async def raise_window(backend: Backend, application: int, element: Element | None) -> Window | None:
    """Bring the window that an element is in to the front; None if the application only shows a popup."""
    windows = [
        window for window in reversed(await backend.windows.list()) if window.application == application
    ]
    if not windows:
        return None
    middle = element.rect.centre if element is not None and element.rect is not None else Point(-1, -1)
    at_place = [window for window in windows if window.rect.contains(middle) and not window.minimised]
    chosen = (at_place or windows)[0]
    if element is not None and len(at_place) > 1:
        chosen = await _own_window(backend, at_place, element)
    # Also if it is active: the program may not know yet that its window was moved.
    return await backend.windows.focus(chosen.id)


async def _own_window(backend: Backend, windows: Sequence[Window], element: Element) -> Window:
    """The one of several windows at a place that the element is in; the topmost if that is not known."""
    top = element
    while top.parent is not None:
        around = await backend.accessibility.read(top.parent)
        if around is None or around.role == "application":
            break
        top = around
    titled = [window for window in windows if top.name in names_of(window)]
    if len(titled) != 1:
        titled = [window for window in titled or windows if window.rect == top.rect]
    return (titled or windows)[0]


async def show_in_menus(backend: Backend, application: int, element: Element) -> Element | None:
    """Open the menus that an entry is in; None if it is in none, or they do not open."""
    if element.role not in MENU_ROLES:
        return None
    tree = await read_tree(backend, application)
    found = tree.by_ref.get(element.ref)
    chain = [outer for outer in tree.around(found) if outer.role in MENU_ROLES] if found is not None else []
    if not chain:
        return None
    try:
        for menu in reversed(chain):
            shown = await _wait_until_shown(backend, menu)
            await point_at(backend, application, shown, "single")
        return await _wait_until_shown(backend, element)
    except ToolFailure:
        await backend.input.press("escape", None)
        return None


async def _wait_until_shown(backend: Backend, element: Element) -> Element:
    deadline = time.monotonic() + MENU_PATIENCE
    with backend.events.listen() as changes:
        while True:
            now = await backend.accessibility.read(element.ref)
            if now is not None and "showing" in now.states and now.rect is not None:
                return dataclasses.replace(now, parent=element.parent)
            if now is None or time.monotonic() > deadline:
                raise ToolFailure(f"{describe(element)} does not open.")
            await changes.next(0.05)
