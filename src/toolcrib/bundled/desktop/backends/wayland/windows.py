"""Windows of a Wayland session: XWayland's like on X11, the others as accessibility lists them. Has the
errors for what cannot be done with Wayland windows (focus, move, close).

The position of a Wayland window is unknown. It is given far outside the screen, so that a position inside
such a window is refused and cannot be clicked elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from toolcrib.bundled.desktop.backend import ElementRef, Window
from toolcrib.bundled.desktop.backends.x11.atspi.accessibility import AtspiAccessibility
from toolcrib.bundled.desktop.backends.x11.atspi.bus import ATSPI, AccessibilityBus
from toolcrib.bundled.desktop.backends.x11.atspi.calls import NoAnswer
from toolcrib.bundled.desktop.backends.x11.atspi.vocabulary import clean_name, role_name, state_names
from toolcrib.bundled.desktop.backends.x11.windows import X11Windows
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.serverkit.context import ToolFailure

WINDOW_ROLES = {"frame", "window", "dialog", "alert", "file chooser"}
MOST_WINDOWS = 200
"""Of one program."""
SCREEN_COORDINATES = 0

FIRST_ID = 1 << 32
"""X11 ids are smaller."""
UNKNOWN_PLACE = Point(-1_000_000, -1_000_000)


@dataclass(frozen=True)
class NativeWindow:
    ref: ElementRef
    title: str
    application: int
    program: str
    size: tuple[int, int]
    active: bool
    minimised: bool


class NativeWindows:
    def __init__(self, accessibility: AtspiAccessibility) -> None:
        self._accessibility = accessibility

    async def list(self) -> Sequence[NativeWindow]:
        """Of all programs that offer their elements; none without accessibility."""
        try:
            bus = await self._accessibility.connect()
            programs = await bus.programs()
        except (ToolFailure, NoAnswer):
            return []
        found = await asyncio.gather(*(_windows(bus, *program) for program in programs.items()))
        return [window for windows in found for window in windows]


async def _windows(bus: AccessibilityBus, process: int, root: ElementRef) -> Sequence[NativeWindow]:
    with contextlib.suppress(NoAnswer):
        name = clean_name(await bus.get(*root, "Accessible", "Name"))
        answer = await bus.call(*root, f"{ATSPI}Accessible", "GetChildren")
        refs = [(child[0], child[1]) for child in (answer[0] if answer else ())][:MOST_WINDOWS]
        found = await asyncio.gather(*(_window(bus, process, name, ref) for ref in refs))
        return [window for window in found if window is not None]
    return []


async def _window(bus: AccessibilityBus, process: int, program: str, ref: ElementRef) -> NativeWindow | None:
    title, role, state, extents = await asyncio.gather(
        bus.get(*ref, "Accessible", "Name"),
        bus.call(*ref, f"{ATSPI}Accessible", "GetRole"),
        bus.call(*ref, f"{ATSPI}Accessible", "GetState"),
        bus.call(*ref, f"{ATSPI}Component", "GetExtents", "u", SCREEN_COORDINATES),
    )
    if role is None or state is None or role_name(role[0]) not in WINDOW_ROLES:
        return None
    states = state_names(state[0])
    if not states & {"showing", "visible", "iconified"}:
        return None
    width, height = extents[0][2:4] if extents else (0, 0)
    size = (max(0, width), max(0, height))
    return NativeWindow(
        ref, clean_name(title), process, program, size, "active" in states, "iconified" in states
    )


class WaylandWindows:
    def __init__(self, x11: X11Windows | None, native: NativeWindows) -> None:
        self._x11 = x11
        self._native = native
        self._ids: dict[ElementRef, int] = {}

    async def list(self) -> Sequence[Window]:
        """Wayland windows below X11 windows: their real order is unknown."""
        native = await self._native.list()
        of_x11 = (
            await self._of_x11()
        )  # last: a new X11 program tells accessibility before it shows its window
        programs = {window.application for window in of_x11}
        found = [window for window in native if window.application not in programs]
        above = [dataclasses.replace(window, level=window.level + len(found)) for window in of_x11]
        return [*(self._described(level, window) for level, window in enumerate(found)), *above]

    def is_x11(self, window: int) -> bool:
        return self._x11 is not None and window < FIRST_ID

    async def programs_of_x11(self) -> frozenset[int]:
        """The programs whose elements have places on the screen."""
        return frozenset(
            window.application for window in await self._of_x11() if window.application is not None
        )

    async def focus(self, window: int) -> Window:
        if self._x11 is not None and self.is_x11(window):
            return await self._x11.focus(window)
        found = await self._get(window)
        if not found.active:
            self._refuse("focused", "Ask the user to click on it")
        return found

    async def place(self, window: int, rect: Rect) -> Window:
        return await self._x11_only(window, "moved").place(window, rect)

    async def minimise(self, window: int) -> Window:
        return await self._x11_only(window, "minimised").minimise(window)

    async def restore(self, window: int) -> Window:
        return await self._x11_only(window, "restored").restore(window)

    async def problem(self) -> None:
        return None

    async def close(self, window: int) -> bool:
        return await self._x11_only(window, "closed").close(window)

    async def _of_x11(self) -> Sequence[Window]:
        return await self._x11.list() if self._x11 is not None else []

    async def _get(self, window: int) -> Window:
        found = next((candidate for candidate in await self.list() if candidate.id == window), None)
        if found is None:
            raise ToolFailure(f"There is no window {window}.", "Call list_windows again.")
        return found

    def _x11_only(self, window: int, what: str) -> X11Windows:
        if self._x11 is None or not self.is_x11(window):
            self._refuse(what, "Use the program's own menu or buttons")
        return self._x11

    def _refuse(self, what: str, instead: str) -> NoReturn:
        raise ToolFailure(
            f"A window of a Wayland program cannot be {what} by another program.",
            f"{instead}, or use a display of its own: --headless 1280x800.",
        )

    def _described(self, level: int, window: NativeWindow) -> Window:
        number = self._ids.setdefault(window.ref, FIRST_ID + len(self._ids))
        rect = Rect(UNKNOWN_PLACE.x, UNKNOWN_PLACE.y, *window.size)
        return Window(
            number,
            window.title,
            window.application,
            window.program,
            rect,
            level,
            active=window.active,
            minimised=window.minimised,
        )
