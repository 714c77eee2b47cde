"""Keeps input away from Toolcrib's own page, where the user decides what a model may do, and the pointer away
from windows behind a modal dialog. Has the pattern for titles of the page, and the error message.

The page is recognised by the title of its window. Its elements are hidden, and clicks, keys and other input
into its window are refused; looking at it is allowed.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

from toolcrib.bundled.desktop.backend import (
    Accessibility,
    Applications,
    Backend,
    Button,
    Capture,
    Clipboard,
    Displays,
    Element,
    ElementRef,
    ElementTree,
    Input,
    Window,
    Windows,
)
from toolcrib.bundled.desktop.changes import Changes
from toolcrib.bundled.desktop.failures import ProtectedWindow
from toolcrib.bundled.desktop.geometry import Point
from toolcrib.bundled.desktop.modality import check_window
from toolcrib.bundled.desktop.window_lookup import window_at

_TITLE = re.compile(r"(\(\d+\) )?Toolcrib( [-—–] .*)?")
"""The title of the page, with the number of open questions, and what browsers add."""

_PAGE_ROLES = {"frame", "window", "dialog", "alert", "document web", "document frame"}


def is_own_page(title: str) -> bool:
    return _TITLE.fullmatch(title.strip()) is not None


class OwnPageGuard:
    """A backend that does the same, except in the window of our own page."""

    def __init__(self, inner: Backend) -> None:
        self._inner = inner
        self.name: str = inner.name
        self.applications: Applications = inner.applications
        self.windows: Windows = inner.windows
        self.displays: Displays = inner.displays
        self.capture: Capture = inner.capture
        self.clipboard: Clipboard = inner.clipboard
        self.events: Changes = inner.events
        self.input: Input = _GuardedInput(inner.input, inner.windows)
        self.accessibility: Accessibility = _GuardedAccessibility(inner.accessibility)

    @property
    def alive(self) -> bool:
        return self._inner.alive

    def __getattr__(self, name: str) -> Any:
        """What only this kind of desktop has, such as its display."""
        return getattr(self._inner, name)

    def close(self) -> None:
        self._inner.close()


class _GuardedInput:
    def __init__(self, inner: Input, windows: Windows) -> None:
        self._inner = inner
        self._windows = windows
        self.move, self.release = inner.move, inner.release

    async def click(
        self,
        at: Point,
        *,
        button: Button = "left",
        count: int = 1,
        owner: int | None = None,
        unmoved: Window | None = None,
    ) -> None:
        await self._check_points(at)
        await self._inner.click(at, button=button, count=count, owner=owner, unmoved=unmoved)

    async def drag(
        self,
        start: Point,
        end: Point,
        *,
        button: Button = "left",
        owner: int | None = None,
        unmoved: Window | None = None,
    ) -> None:
        await self._check_points(start, end)
        await self._inner.drag(start, end, button=button, owner=owner, unmoved=unmoved)

    async def scroll(self, at: Point, *, down: int = 0, right: int = 0) -> None:
        await self._check_points(at)
        await self._inner.scroll(at, down=down, right=right)

    async def type_text(self, text: str, window: int) -> None:
        await self._check_window(window)
        await self._inner.type_text(text, window)

    async def press(self, chord: str, window: int | None, *, times: int = 1) -> None:
        await self._check_window(window)
        await self._inner.press(chord, window, times=times)

    async def hold(
        self, *, keys: Sequence[str] = (), button: Button | None = None, at: Point | None = None
    ) -> None:
        await self._check_window(None)
        if at is not None:
            await self._check_points(at)
        await self._inner.hold(keys=keys, button=button, at=at)

    async def _check_points(self, *points: Point) -> None:
        listed = await self._windows.list()
        for point in points:
            _refuse(window_at(listed, point))
            check_window(listed, window_at(listed, point))

    async def _check_window(self, window: int | None) -> None:
        """The window that gets keys; the active one if none is named."""
        listed = await self._windows.list()
        _refuse(
            next((shown for shown in listed if shown.id == window or (window is None and shown.active)), None)
        )


class _GuardedAccessibility:
    """Elements of the page are never listed, so that none has an id to act on."""

    def __init__(self, inner: Accessibility) -> None:
        self._inner = inner
        self.rects, self.read, self.at_point = inner.rects, inner.read, inner.at_point
        self.texts, self.text_rect, self.write = inner.texts, inner.text_rect, inner.write
        self.actions, self.act, self.focus = inner.actions, inner.act, inner.focus

    async def tree(self, application: int, timeout: float) -> ElementTree:
        tree = await self._inner.tree(application, timeout)
        hidden = _inside_own_page(tree.elements)
        if not hidden:
            return tree
        shown = tuple(element for element in tree.elements if element.ref not in hidden)
        return dataclasses.replace(tree, elements=shown)


def _inside_own_page(elements: Sequence[Element]) -> set[ElementRef]:
    """The page's window and everything in it; parents come before children."""
    hidden: set[ElementRef] = set()
    for element in elements:
        is_page = element.role in _PAGE_ROLES and is_own_page(element.name)
        if is_page or element.parent in hidden:
            hidden.add(element.ref)
    return hidden


def _refuse(window: Window | None) -> None:
    if window is not None and is_own_page(window.title):
        raise ProtectedWindow(
            "This window shows Toolcrib's own page, where only the user decides, so nothing was done.",
            "Ask the user to do it. Another window with this title must be renamed first.",
        )
