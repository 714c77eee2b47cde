"""Moves, clicks, drags and scrolls the pointer; a click can be refused unless the right program would receive
it. Has the steps of a drag, waiting times, and the refusals ("The window has moved")."""

from __future__ import annotations

import time

import xcffib.xtest

from toolcrib.bundled.desktop.backend import Button, ClickRefused, Window
from toolcrib.bundled.desktop.backends.x11.connection import XConnection, grabbed
from toolcrib.bundled.desktop.backends.x11.displays import screen_rect
from toolcrib.bundled.desktop.backends.x11.windows import answers_pings, client_of, list_windows, ping
from toolcrib.bundled.desktop.deadline import slowness
from toolcrib.bundled.desktop.geometry import Point

MOTION, PRESS, RELEASE = 6, 4, 5
BUTTONS: dict[Button, int] = {"left": 1, "middle": 2, "right": 3}
UP, DOWN, LEFT, RIGHT = 4, 5, 6, 7
DRAG_STEPS = 12
DRAG_PAUSE = 0.008
MAX_CLICKS = 3
PROCESSING = 0.5
"""Seconds to wait for a program to process a click."""
DRAG_PATIENCE = 2.0
"""Seconds to wait for a program to process one step of a drag; one that is late would miss it."""
MAX_SCROLL = 100
POPUPS = {f"_NET_WM_WINDOW_TYPE_{kind}" for kind in ("POPUP_MENU", "DROPDOWN_MENU", "MENU", "COMBO")}


def click(
    connection: XConnection,
    at: Point,
    button: Button,
    count: int,
    owner: int | None,
    unmoved: Window | None,
) -> None:
    """Checked and clicked while no other program can change anything, so that it cannot miss.

    Returns when the program has processed it, if it says so.
    """
    below = windows_at(connection, at)
    with grabbed(connection):
        _check(connection, at, owner, unmoved)
        _input(connection, MOTION, 0, at)
        for _ in range(max(1, min(count, MAX_CLICKS))):
            _input(connection, PRESS, BUTTONS[button])
            _input(connection, RELEASE, BUTTONS[button])
    window = unmoved.id if unmoved is not None else _pingable(connection, below)
    if window is not None:
        ping(connection, window, PROCESSING)


def _check(connection: XConnection, at: Point, owner: int | None, unmoved: Window | None) -> None:
    if owner is not None and owner not in owners_at(connection, at):
        raise ClickRefused(
            f"Another window covers {at.x},{at.y}, so nothing was clicked.",
            "Focus the window, or look at the screen with take_screenshot.",
        )
    if not screen_rect(connection).contains(at):
        raise ClickRefused(f"{at.x},{at.y} is beyond the edge of the screen, so nothing was clicked.")
    if unmoved is None:
        return
    places = {window.id: window.rect for window in list_windows(connection)}
    if places.pop(unmoved.id, None) != unmoved.rect:
        raise ClickRefused("The window has moved, so nothing was clicked.", "Try again.")
    if places.keys() & windows_at(connection, at):
        raise ClickRefused(f"Another window of the program covers {at.x},{at.y}, so nothing was clicked.")


def move(connection: XConnection, to: Point) -> None:
    _input(connection, MOTION, 0, to)
    connection.sync()


def button_down(connection: XConnection, button: Button) -> None:
    _input(connection, PRESS, BUTTONS[button])


def button_up(connection: XConnection, button: Button) -> None:
    _input(connection, RELEASE, BUTTONS[button])


def drag(
    connection: XConnection,
    start: Point,
    end: Point,
    button: Button,
    owner: int | None,
    unmoved: Window | None,
) -> None:
    """In small steps, each of which the program has processed before the next: it may start a drag only late.

    The pauses give it time to draw, because toolkits drop all movements but the last before they draw.
    """
    program = WaitingProgram(connection, start)
    pause = DRAG_PAUSE * slowness()
    with grabbed(connection):
        _check(connection, start, owner, unmoved)
        _input(connection, MOTION, 0, start)
        _input(connection, PRESS, BUTTONS[button])
    try:
        program.wait()
        for step in range(1, DRAG_STEPS + 1):
            time.sleep(pause)
            move(connection, start.towards(end, step / DRAG_STEPS))
            program.wait()
    finally:
        _input(connection, RELEASE, BUTTONS[button])
        connection.sync()
    program.wait()


class WaitingProgram:
    """The program at a point, which is waited for until it has processed its events."""

    def __init__(self, connection: XConnection, at: Point) -> None:
        self._connection = connection
        self._window = _pingable(connection, windows_at(connection, at))
        """None if it does not say what it has processed."""

    def wait(self) -> None:
        """Not again after it has not answered in time."""
        if self._window is not None and not ping(self._connection, self._window, DRAG_PATIENCE):
            self._window = None


def scroll(connection: XConnection, at: Point, down: int, right: int) -> None:
    move(connection, at)
    steps = [(DOWN if down > 0 else UP, abs(down)), (RIGHT if right > 0 else LEFT, abs(right))]
    for button, times in steps:
        for _ in range(min(times, MAX_SCROLL)):
            _input(connection, PRESS, button)
            _input(connection, RELEASE, button)
    connection.sync()


def owners_at(connection: XConnection, at: Point) -> set[int]:
    """The processes whose windows are at a point, from the frame to the innermost window."""
    return {owner for window in windows_at(connection, at) for owner in owners_of(connection, window)}


def windows_at(connection: XConnection, at: Point) -> list[int]:
    found: list[int] = []
    window = connection.root
    while window:
        window = connection.core.TranslateCoordinates(connection.root, window, at.x, at.y).reply().child
        found += [window] if window else []
    return found


def has_popup(connection: XConnection, at: Point) -> bool:
    """Whether an open menu or list of a combo box is at a point; no window manager lists these."""
    types = [connection.read_numbers(window, "_NET_WM_WINDOW_TYPE") for window in windows_at(connection, at)]
    return not POPUPS.isdisjoint(connection.atom_name(atom) for atoms in types for atom in atoms)


def _pingable(connection: XConnection, windows: list[int]) -> int | None:
    return next((window for window in windows if answers_pings(connection, window)), None)


def owners_of(connection: XConnection, window: int) -> list[int]:
    """The process that created a window, as the server knows it, and as the window says."""
    said = connection.read_numbers(window, "_NET_WM_PID")
    known = client_of(connection, window)
    return said if known is None else [*said, known]


def _input(connection: XConnection, kind: int, detail: int, at: Point | None = None) -> None:
    x, y = (at.x, at.y) if at else (0, 0)
    connection.extension(xcffib.xtest).FakeInput(kind, detail, 0, connection.root, x, y, 0)
