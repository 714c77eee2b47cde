"""Clicks and fills elements that were just read again: by pointer, the element's own action, or keys. Has
words for on and off, roles that are switches, lists or rows, and how long to wait and retry.

A visible element is clicked with the pointer, which is refused unless the application's own window is on top
at that point. Its own action is used only if it is hidden or covered: GTK 3 runs the dialogs that an action
opens inside the call, and answers no accessibility client until they are closed.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from typing import Literal

from toolcrib.bundled.desktop.backend import SHOWN, Backend, Element, ElementRef, ElementTree
from toolcrib.bundled.desktop.elements.pointing import (
    ClickKind,
    Located,
    OtherElement,
    is_confirmed,
    point_at,
    raise_window,
    show_in_menus,
)
from toolcrib.bundled.desktop.elements.search import VALUE_ROLES, read_tree, with_places
from toolcrib.bundled.desktop.elements.selector import is_enabled
from toolcrib.bundled.desktop.elements.snapshots import describe
from toolcrib.bundled.desktop.failures import InvalidFormat
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.serverkit.context import ToolFailure

TOGGLES = frozenset({"check box", "check menu item", "switch", "toggle button"})
RADIOS = frozenset({"radio button", "radio menu item"})
"""Only another one of their group turns these off."""
SWITCH_PATIENCE = 2.0
"""Seconds for a program to report the new state."""
_ON = {"true", "on", "checked", "yes", "1"}
_OFF = {"false", "off", "unchecked", "no", "0"}
_STATES = {"checked", "pressed"}
_MIXED = "indeterminate"

ENTRY_ROLES = {"menu item", "list item", "table cell", "tree item"}
PATIENCE = 6.0
OPENING = 0.45
"""Seconds: Qt ignores clicks in a list that was opened less than 0.4 s ago."""


def is_switch(element: Element) -> bool:
    return element.role in TOGGLES or element.role in RADIOS


def state_of(element: Element) -> bool | None:
    """None for a mixed state."""
    return None if _MIXED in element.states else bool(element.states & _STATES)


def wanted_state(element: Element, value: str) -> bool:
    """Raises `InvalidFormat` if the text names no state, or one that the element cannot be set to."""
    word = value.strip().casefold()
    if word not in _ON | _OFF:
        raise InvalidFormat(f"{describe(element)} is either true or false, not {value[:60]!r}.")
    if word in _OFF and element.role in RADIOS:
        raise InvalidFormat(f"{describe(element)} cannot be turned off.", "Turn another one of its group on.")
    return word in _ON


async def after_click(backend: Backend, element: Element) -> Element | None:
    """The element once it reports another state than before, or after a moment; None if it has gone."""
    deadline = time.monotonic() + SWITCH_PATIENCE
    with backend.events.listen() as changes:
        while True:
            now = await backend.accessibility.read(element.ref)
            if now is None or state_of(now) is not state_of(element) or time.monotonic() > deadline:
                return now
            await changes.next(0.1)


async def choose_entry(backend: Backend, application: int, box: Element, name: str) -> bool:
    """Open the list and click the entry of this name; False if there is none. Raises `ClickRefused`."""
    box = (await with_places(backend, [box]))[0]
    closed = await _find(backend, application, box.ref, name)
    await point_at(backend, application, box, "single")
    opened = time.monotonic()
    entry = await _wait_for(backend, application, box.ref, name, closed.rect if closed is not None else None)
    if entry is None:
        await backend.input.press("escape", None)
        return False
    await asyncio.sleep(max(0.0, opened + OPENING - time.monotonic()))
    middle = _middle(entry, box)
    await is_confirmed(backend, entry, middle)
    await backend.input.click(middle, owner=application)
    return True


def _middle(entry: Element, box: Element) -> Point:
    """In the middle of the box, if the entry is there: Qt reports entries that are wider than their list."""
    assert entry.rect is not None
    centre = entry.rect.centre
    below = Point(box.rect.centre.x, centre.y) if box.rect is not None else centre
    return below if entry.rect.contains(below) else centre


async def _wait_for(
    backend: Backend, application: int, box: ElementRef, name: str, closed: Rect | None
) -> Element | None:
    """The entry in the open list. Qt reports a place also while the list is closed, which is wrong."""
    deadline = time.monotonic() + PATIENCE
    with backend.events.listen() as changes:
        while True:
            found = await _find(backend, application, box, name)
            if found is not None and found.rect not in (None, closed):
                return found
            if time.monotonic() > deadline:
                return None
            await changes.next(0.1)


async def _find(backend: Backend, application: int, box: ElementRef, name: str) -> Element | None:
    tree = await read_tree(backend, application)
    named = [
        element for element in _inside(tree, box) if element.name == name and element.role in ENTRY_ROLES
    ]
    placed = await with_places(backend, named)
    return next((element for element in placed if element.visible), None)


def _inside(tree: ElementTree, ref: ElementRef) -> list[Element]:
    refs = {ref}
    found: list[Element] = []
    for element in tree.elements:
        if element.parent in refs:
            refs.add(element.ref)
            found.append(element)
    return found


Method = Literal["action", "pointer", "value", "keyboard", "none"]
CLICK_ACTIONS = ("click", "press", "activate", "jump", "toggle", "clicked", "open", "select", "dodefault")
POINTER_ROLES = {"text", "entry", "password text", "terminal", "document text", "canvas", "drawing area"}
"""A click gives these the focus; their actions do something else, such as to submit."""
ROW_ROLES = {"table cell", "table row", "list item", "tree item"}
"""Their action opens them, as a double click does."""
TYPING_ATTEMPTS = 3
ENABLE_PATIENCE = 1.0
SCROLL_ATTEMPTS = 10


@dataclass(frozen=True)
class ActionOutcome:
    method: Method
    verified: bool | None
    """Whether the element has the wanted value; None if that cannot be read."""
    value: str | None = None
    element: Element | None = None
    """As it was just before; None if it was not read again."""
    unconfirmed: Point | None = None
    """Where the pointer acted, if the program does not say what is there."""


async def click(backend: Backend, application: int, element: Element, kind: ClickKind) -> ActionOutcome:
    """Raises `ToolFailure` if the element is disabled, or cannot be reached safely.

    Returns when a check box reports its new state: its old one would invite a second click.
    """
    outcome = await _click(backend, application, element, kind)
    if kind != "single" or element.role not in TOGGLES:
        return outcome
    now = await after_click(backend, element)
    changed = None if now is None else state_of(now) is not state_of(element)
    return replace(outcome, verified=changed)


async def _click(backend: Backend, application: int, element: Element, kind: ClickKind) -> ActionOutcome:
    element = await _when_enabled(backend, element)
    if not element.visible:
        shown = await show_in_menus(backend, application, element)
        if shown is None:
            return await _act(backend, element, kind, "is not on the screen")
        element = shown
    try:
        located = await _point_or_scroll(backend, application, element, kind)
    except OtherElement:
        raise
    except ToolFailure as refused:
        return await _act(backend, element, kind, refused.message)
    return ActionOutcome(
        "pointer", None, element=element, unconfirmed=None if located.confirmed else located.point
    )


async def _point_or_scroll(backend: Backend, application: int, element: Element, kind: ClickKind) -> Located:
    try:
        return await point_at(backend, application, element, kind)
    except ToolFailure:
        if not await _scroll_to(backend, element):
            raise
        return await point_at(backend, application, element, kind)


async def _scroll_to(backend: Backend, element: Element) -> bool:
    """Give it the focus, which makes Chromium scroll to it; False if it stays where it is."""
    if "focusable" not in element.states or not await backend.accessibility.focus(element.ref):
        return False
    with backend.events.listen() as changes:
        for _ in range(SCROLL_ATTEMPTS):
            now = await backend.accessibility.read(element.ref)
            if now is None or now.rect != element.rect:
                return now is not None and now.rect is not None
            await changes.next(0.05)
    return False


async def _act(backend: Backend, element: Element, kind: ClickKind, reason: str) -> ActionOutcome:
    """Use the element's own action, which needs no place on the screen."""
    if kind == "single" and await _select_row(backend, element):
        return ActionOutcome("action", True, element=element)
    offered = {name.casefold(): name for name in await backend.accessibility.actions(element.ref)}
    action = next((offered[name] for name in CLICK_ACTIONS if name in offered), None)
    meant = "double" if element.role in ROW_ROLES else "single"
    suits = kind == meant and action is not None and element.role not in POINTER_ROLES
    if not suits or action is None or not await backend.accessibility.act(element.ref, action):
        raise ToolFailure(
            f"{describe(element)} could not be clicked: {reason}", "Open the menu, tab or page it is in."
        )
    return ActionOutcome("action", None, element=element)


async def _select_row(backend: Backend, element: Element) -> bool:
    """Give a row that is scrolled out of sight the focus, which selects it as a click does."""
    if element.role not in ROW_ROLES or element.parent is None:
        return False
    around = await backend.accessibility.read(element.parent)
    if around is None or not around.states & SHOWN or not await backend.accessibility.focus(element.ref):
        return False
    now = await backend.accessibility.read(element.ref)
    return now is not None and "selected" in now.states


async def write(backend: Backend, application: int, element: Element, value: str) -> ActionOutcome:
    """Replace the contents of an element, and read them back."""
    if is_switch(element):
        return await _switch(backend, application, element, wanted_state(element, value))
    element = await _when_enabled(backend, element)
    await _give_focus(backend, application, element)
    if await backend.accessibility.write(element.ref, value):
        return ActionOutcome("value", True, value, element)
    now = await backend.accessibility.read(element.ref) if element.role in VALUE_ROLES else None
    if now is not None and now.text is not None and (now.text != element.text or now.role == "slider"):
        return ActionOutcome("value", False, now.text, element)  # the nearest value that it can have
    if element.role in ("combo box", "list box"):
        return await _choose(backend, application, element, value)
    if "editable" not in element.states:
        raise ToolFailure(
            f"{describe(element)} cannot be written to.", "Choose a text field, slider or list."
        )
    return await _type_into(backend, application, element, value)


async def _give_focus(backend: Backend, application: int, element: Element) -> None:
    """As a user would before writing: the keys that follow, such as Enter, are meant for this element."""
    if not element.visible or element.rect is None:
        return
    await raise_window(backend, application, element)
    if "focused" not in element.states:
        await backend.accessibility.focus(element.ref)


async def _switch(backend: Backend, application: int, element: Element, wanted: bool) -> ActionOutcome:
    """Click a check box or the like only if it has another state; a mixed one may need a second click."""
    before = state_of(element)
    if before is wanted:
        return ActionOutcome("none", True)
    outcome = await _click(backend, application, element, "single")
    now = await after_click(backend, element)
    if now is None:
        return outcome
    if before is None and state_of(now) is not None:
        return await _switch(backend, application, now, wanted)
    return replace(outcome, verified=state_of(now) is wanted)


async def _choose(backend: Backend, application: int, element: Element, value: str) -> ActionOutcome:
    if element.role != "combo box" or not await choose_entry(backend, application, element, value):
        raise ToolFailure(f"{describe(element)} has no entry {value!r}.", "Click it to see its entries.")
    return ActionOutcome("pointer", None)


async def _type_into(backend: Backend, application: int, element: Element, value: str) -> ActionOutcome:
    """As a user would: click, select all, type; again if the program lost a key."""
    seen: str | None = None
    for _ in range(TYPING_ATTEMPTS):
        await point_at(backend, application, element, "single")
        await backend.accessibility.focus(element.ref)
        window = await raise_window(backend, application, element)
        if window is None:
            raise ToolFailure(f"{describe(element)} is in no window that can be focused.")
        await backend.input.press("cmd+a" if backend.name == "macos" else "ctrl+a", window.id)
        await backend.input.press("delete", window.id)
        await backend.input.type_text(value, window.id)
        verified, seen = await _settled_text(backend, element, value)
        if verified is not False:
            return ActionOutcome("keyboard", verified, seen)
    return ActionOutcome("keyboard", False, seen)


async def _settled_text(backend: Backend, element: Element, expected: str) -> tuple[bool | None, str | None]:
    """Whether the element comes to contain the text; programs report it a moment after they drew it."""
    text: str | None = None
    with backend.events.listen() as changes:
        for _ in range(10):
            now = await backend.accessibility.read(element.ref)
            text = now.text if now is not None else None
            if text is None or text == expected:
                return (None if text is None else True), text
            await changes.next(0.1)
    return False, text


async def _when_enabled(backend: Backend, element: Element) -> Element:
    """The element once it is enabled: programs do that a moment after what it depends on was filled in."""
    now = element
    deadline = time.monotonic() + ENABLE_PATIENCE
    with backend.events.listen() as changes:
        while not is_enabled(now):
            if time.monotonic() > deadline:
                raise ToolFailure(
                    f"{describe(element)} is disabled.", "Something else may have to be filled in first."
                )
            await changes.next(0.1)
            read = await backend.accessibility.read(element.ref)
            if read is None:
                raise ToolFailure(f"{describe(element)} no longer exists.", "Look for it again.")
            now = read
    return now
