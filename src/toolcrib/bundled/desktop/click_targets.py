"""Where pointer input goes: a position in a named space, checked against the screen and the window there. Has
names of mouse buttons, the most clicks and scroll steps, and errors for positions outside of a window."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import cast

from toolcrib.bundled.desktop.backend import Backend, Button, ClickRefused, Window
from toolcrib.bundled.desktop.coordinates import to_screen
from toolcrib.bundled.desktop.failures import MissingField, OutOfRange, WindowNotFound
from toolcrib.bundled.desktop.geometry import Point, Space
from toolcrib.bundled.desktop.pictures import Pictures
from toolcrib.bundled.desktop.records import read_enum
from toolcrib.bundled.desktop.window_lookup import choose_window, window_at

BUTTONS = {"left": "left", "right": "right", "middle": "middle", "center": "middle"}
MAX_CLICKS = 3
RAISE_PATIENCE = 0.5
MAX_NOTCHES = 100


@dataclass(frozen=True)
class Aim:
    """A point on the screen, and what is known to be there."""

    point: Point
    window: Window | None
    """The topmost window there."""
    required: Window | None = None
    """The window that input must reach."""
    application: int | None = None
    """The application that input must reach."""

    @property
    def owner(self) -> int | None:
        return self.required.application if self.required is not None else self.application

    @property
    def observed(self) -> int:
        """The application whose changes are reported; 0 for none."""
        return self.owner or (self.window.application if self.window is not None else None) or 0

    def check(self) -> None:
        """Raise `ClickRefused` if another window is in the way; for input that has no check of its own."""
        there = self.window.application if self.window is not None else None
        if self.owner is not None and there != self.owner:
            raise ClickRefused(
                f"Another window covers {self.point.x},{self.point.y}, so nothing was done.",
                "Focus the window first.",
            )


async def aim(
    backend: Backend,
    pictures: Pictures,
    x: float,
    y: float,
    space: Space = "screen",
    reference: int | str | None = None,
    application: int | None = None,
) -> Aim:
    """Find the point; a window that the position belongs to is brought to the front."""
    required = await _in_front(backend, reference) if space == "window" else None
    name: int | str | None = required.id if required is not None else reference
    point = await to_screen(backend, pictures, x, y, space, name)
    if required is not None and not required.rect.contains(point):
        size = f"{required.rect.width}x{required.rect.height}"
        raise OutOfRange(f"{x:g},{y:g} is outside the window, whose size is {size}.")
    if not any(display.rect.contains(point) for display in await backend.displays.list()):
        raise OutOfRange(f"{point.x},{point.y} is not on the screen.", "list_displays shows its size.")
    there = window_at(await backend.windows.list(), point)
    if required is not None and (there is None or there.id != required.id):
        there = await _raised(backend, required, point)
    return Aim(point, there, required, application)


async def _raised(backend: Backend, required: Window, point: Point) -> Window | None:
    """The topmost window; window managers report the new order a moment after the active window."""
    deadline = time.monotonic() + RAISE_PATIENCE
    with backend.events.listen("window") as changes:
        while True:
            there = window_at(await backend.windows.list(), point)
            if time.monotonic() > deadline or (there is not None and there.id == required.id):
                return there
            await changes.next(0.05)


async def _in_front(backend: Backend, reference: int | str | None) -> Window:
    if reference is None:
        raise MissingField("A position in the space 'window' needs the id of its window as reference.")
    window = choose_window(await backend.windows.list(), reference)
    return window if window.active else await backend.windows.focus(window.id)


async def click_at(backend: Backend, target: Aim, button: Button, count: int) -> None:
    """Click; refused if the window or application that it is meant for would not get it."""

    async def click() -> None:
        await backend.input.click(
            target.point, button=button, count=count, owner=target.owner, unmoved=target.required
        )

    try:
        await click()
    except ClickRefused:
        if target.required is None:
            raise
        # Another window came to the front meanwhile; nothing was clicked.
        await backend.windows.focus(target.required.id)
        await click()


async def drag_to(backend: Backend, start: Aim, end: Point, button: Button) -> None:
    """Drag; refused if the window or application that it is meant for would not get the press."""
    await backend.input.drag(start.point, end, button=button, owner=start.owner, unmoved=start.required)


async def scroll_at(backend: Backend, target: Aim, down: float, right: float) -> None:
    if max(abs(down), abs(right)) > MAX_NOTCHES:
        raise OutOfRange(f"At most {MAX_NOTCHES} steps can be scrolled at once.")
    target.check()
    await backend.input.scroll(target.point, down=_whole(down), right=_whole(right))


def read_button(given: str | None, parameter: str = "button") -> Button:
    return cast("Button", read_enum(parameter, given, "CLICK_TYPE", BUTTONS, "left"))


def check_count(count: int) -> None:
    if not 1 <= count <= MAX_CLICKS:
        raise OutOfRange(f"click_count is 1 to {MAX_CLICKS}.")


async def middle_of_active(backend: Backend) -> Aim:
    active = next((window for window in await backend.windows.list() if window.active), None)
    if active is None:
        raise WindowNotFound("No window is active.", "Give x and y.")
    return Aim(active.rect.centre, active, active)


def _whole(value: float) -> int:
    """At least one step for what is not 0."""
    return round(value) or (value > 0) - (value < 0)
