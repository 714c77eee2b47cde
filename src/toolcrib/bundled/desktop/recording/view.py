"""Keeps a recent look at the active application, and names an element as it was before a click.

An element is named by a selector that matches it alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from toolcrib.bundled.desktop.backend import Backend, Element, Window
from toolcrib.bundled.desktop.changes import DesktopChange
from toolcrib.bundled.desktop.elements.pointing import MENU_ROLES
from toolcrib.bundled.desktop.elements.search import read_tree, with_places
from toolcrib.bundled.desktop.elements.selector import attribute, parse_selector
from toolcrib.bundled.desktop.geometry import Point
from toolcrib.bundled.desktop.window_lookup import window_at
from toolcrib.serverkit.context import ToolFailure

POLL = 0.2
SETTLE = 0.03
REGULAR = 2.0
"""Seconds between two looks without a change: not every program reports every change."""
FRESH_PATIENCE = 5.0
REPORT_DELAY = 0.15
"""Seconds until a change of the focus has certainly been reported."""
PASSWORD = "password text"  # noqa: S105 - a role
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


@dataclass(frozen=True)
class Look:
    """The desktop at one moment."""

    began: float
    windows: tuple[Window, ...] = ()
    application: int | None = None
    """That of the active window."""
    elements: tuple[Element, ...] = ()
    complete: bool = False
    ended: float = 0.0

    @property
    def active(self) -> Window | None:
        return next((window for window in self.windows if window.active), None)

    @property
    def focused(self) -> Element | None:
        return next((element for element in reversed(self.elements) if "focused" in element.states), None)

    @property
    def has_password_field(self) -> bool:
        return any(element.role == PASSWORD and element.visible for element in self.elements)


class ScreenView:
    """Looks again after each change."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.current = Look(0.0)
        self.changed = 0.0
        """When something last changed."""
        self._outdated_at = float("inf")
        """When something first changed after the current look."""
        self._previous = self.current, self._outdated_at
        self._actions: deque[float] = deque(maxlen=500)
        self._reports: deque[float] = deque(maxlen=500)
        self._wanted = 0.0
        self._due = 0.0
        """When the effect of the last action can be seen; not every program reports it, or does so late."""
        self._looked = asyncio.Event()

    def note_action(self, moment: float) -> None:
        """The user did something that can move the focus or open a menu."""
        self._actions.append(moment)
        self._due = moment + REPORT_DELAY

    def before(self, moment: float) -> tuple[Look, bool]:
        """The last look before a moment, and whether something had changed by then, or should have.

        The effect of a click may become known before the click does.
        """
        known = self.current, self._outdated_at
        look, outdated_at = known if self.current.ended <= moment else self._previous
        return look, outdated_at <= moment or look.began < self._due <= moment

    async def settled(self) -> None:
        """Wait for a look that shows the effect of everything so far."""
        while not self.current.began or self.current.began < max(self.changed, self._due):
            await self.fresh(max(self.changed, self._due))

    def focus_changed(self, after: float, until: float) -> bool:
        """Whether the focus may have moved meanwhile; a report may come a little later than the change.

        A report that follows a later action of the user belongs to that.
        """
        if any(after < moment <= until for moment in self._actions):
            return True
        later = min((moment for moment in self._actions if moment > until), default=float("inf"))
        return any(after < moment <= min(until + REPORT_DELAY, later) for moment in self._reports)

    async def watch(self) -> None:
        """Look until cancelled."""
        with self._backend.events.listen("element", "window") as changes:
            while True:
                await self._look()
                deadline = time.monotonic() + REGULAR
                while not self._is_wanted() and time.monotonic() < deadline:
                    change = await changes.next(self._pause())
                    if change is not None:
                        self._note(change)
                        break
                while (change := await changes.next(SETTLE)) is not None:
                    self._note(change)

    async def fresh(self, since: float) -> Look:
        """A look that began after a moment; the last one if there is none in time."""
        self._wanted = max(self._wanted, since)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FRESH_PATIENCE):
                while self.current.began <= since:
                    self._looked.clear()
                    await self._looked.wait()
        return self.current

    def _is_wanted(self) -> bool:
        began, now = self.current.began, time.monotonic()
        return began <= self._wanted <= now or began < self._due <= now

    def _pause(self) -> float:
        """Seconds until it is time to look, without a change."""
        left = self._due - time.monotonic()
        return min(POLL, left) if left > 0 else POLL

    def _note(self, change: DesktopChange) -> None:
        self.changed = time.monotonic()
        self._outdated_at = min(self._outdated_at, self.changed)
        if change.kind == "window" or "focused" in change.detail:
            self._reports.append(self.changed)

    async def _look(self) -> None:
        began = time.monotonic()
        try:
            look = await self._read(began)
        except ToolFailure:
            look = Look(began)
        self._previous = self.current, self._outdated_at
        self.current, self._outdated_at = replace(look, ended=time.monotonic()), float("inf")
        self._looked.set()

    async def _read(self, began: float) -> Look:
        windows = tuple(await self._backend.windows.list())
        active = next((window.application for window in windows if window.active), None)
        if active is None:
            return Look(began, windows)
        try:
            tree = await read_tree(self._backend, active)
            elements = await with_places(self._backend, tree.elements)
        except ToolFailure:
            return Look(began, windows, active)
        return Look(began, windows, active, tuple(elements), tree.complete)


def element_at(look: Look, point: Point) -> Element | None:
    """What a click there means: the innermost element that can be clicked, or the smallest one."""
    there = [
        element
        for element in look.elements
        if element.visible and element.rect and element.rect.contains(point)
    ]
    if not there:
        return None
    window = window_at(look.windows, point)
    in_front = window is None or window.application == look.application
    clickable = [element for element in there if element.role in CLICKABLE]
    if not in_front:  # a menu may reach over the windows of others
        clickable = there = [element for element in there if element.role in MENU_ROLES]
    return min(clickable or there, key=_area, default=None)


def selector_for(look: Look, element: Element) -> dict[str, Any] | None:
    """The shortest selector that matches this visible element alone; None if there is none."""
    for candidate in _candidates(element):
        selector = parse_selector(candidate)
        matches = [match for match in look.elements if match.visible and selector.matches(match)]
        if [match.ref for match in matches] == [element.ref]:
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
