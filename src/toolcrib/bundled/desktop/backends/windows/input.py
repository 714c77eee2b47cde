"""Input through SendInput."""

from __future__ import annotations

import asyncio
import ctypes
import threading
import time
from collections.abc import Callable, Sequence
from typing import cast

from toolcrib.bundled.desktop.backend import Button, ClickRefused, Window
from toolcrib.bundled.desktop.backends.holding import HeldChange, HeldDown
from toolcrib.bundled.desktop.backends.separate_presses import SeparatePresses
from toolcrib.bundled.desktop.backends.windows.api import WindowsApi
from toolcrib.bundled.desktop.backends.windows.displays import Win32Displays
from toolcrib.bundled.desktop.backends.windows.integrity import require_control
from toolcrib.bundled.desktop.backends.windows.keycodes import (
    CONTROLS,
    KEYS,
    keys_of_chord,
    record_of_change,
    records_of_character,
    records_of_keys,
)
from toolcrib.bundled.desktop.backends.windows.structures import (
    InputRecord,
    NativePoint,
    mouse_record,
    sizeof,
)
from toolcrib.bundled.desktop.backends.windows.windows import Win32Windows
from toolcrib.bundled.desktop.backends.worker import Worker
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.serverkit.context import ToolFailure

MOVE, WHEEL, SIDE_WHEEL, VIRTUAL_DESK, ABSOLUTE = 0x1, 0x800, 0x1000, 0x4000, 0x8000
DOWN: dict[Button, int] = {"left": 0x2, "right": 0x8, "middle": 0x20}
UP: dict[Button, int] = {"left": 0x4, "right": 0x10, "middle": 0x40}
NOTCH = 120
"""WHEEL_DELTA: one step of a wheel."""
UNITS = 65536
"""Of an absolute position across all monitors."""
TO_SCAN_CODE = 0
SWAPPED_BUTTONS = 23
DRAG_STEPS = 12
PAUSE = 0.008
MARGIN = 0.01
"""Seconds after the time in which Windows takes two clicks for a double click."""
MAX_CLICKS = 3
MAX_SCROLL = 100
BATCH = 100
"""Characters between two looks at whether the window is still active and typing goes on."""
TYPING_DEADLINE = 120.0


class Win32Input:
    def __init__(
        self, api: WindowsApi, worker: Worker, displays: Win32Displays, windows: Win32Windows
    ) -> None:
        self._api = api
        self._user = api.user32
        self._worker = worker
        self._displays = displays
        self._windows = windows
        self._held = HeldDown(self._send_held, self.move)
        worker.at_end(lambda: self._change(self._held.let_go()))
        self._presses = SeparatePresses(self._user.GetDoubleClickTime() / 1000 + MARGIN)

    async def click(
        self,
        at: Point,
        *,
        button: Button = "left",
        count: int = 1,
        owner: int | None = None,
        unmoved: Window | None = None,
    ) -> None:
        async with self._presses.press(button, at):
            await self._worker.run(self._click, at, button, count, owner, unmoved)

    async def drag(
        self,
        start: Point,
        end: Point,
        *,
        button: Button = "left",
        owner: int | None = None,
        unmoved: Window | None = None,
    ) -> None:
        async with self._presses.press(button, start):
            await self._worker.run(self._drag, start, end, button, owner, unmoved)

    async def move(self, to: Point) -> None:
        await self._worker.run(self._move, to)

    async def scroll(self, at: Point, *, down: int = 0, right: int = 0) -> None:
        await self._worker.run(self._scroll, at, down, right)

    async def type_text(self, text: str, window: int) -> None:
        stop = threading.Event()
        try:
            await self._worker.run(
                self._type, text.replace("\r\n", "\n"), window, stop, timeout=TYPING_DEADLINE
            )
        except (asyncio.CancelledError, Exception):
            stop.set()  # the thread stops at the next batch
            raise

    async def press(self, chord: str, window: int | None, *, times: int = 1) -> None:
        await self._worker.run(self._press, chord, window, times)

    async def hold(
        self, *, keys: Sequence[str] = (), button: Button | None = None, at: Point | None = None
    ) -> None:
        async with self._presses.press(button, at):
            await self._held.hold(keys, button, at)

    async def release(
        self, *, keys: Sequence[str] = (), button: Button | None = None, at: Point | None = None
    ) -> None:
        await self._held.release(keys, button, at)

    async def _send_held(self, changes: Sequence[HeldChange]) -> None:
        await self._worker.run(self._change, changes)

    def _change(self, changes: Sequence[HeldChange]) -> None:
        require_control(self._api, None)
        for each in changes:
            if each.is_button:
                button = self._physical(cast("Button", each.name))
                self._send([mouse_record((DOWN if each.pressed else UP)[button])])
                continue
            keys = keys_of_chord(each.name, self._user.VkKeyScanW)
            self._send([record_of_change(keys[-1], self._scan_code, pressed=each.pressed)])

    def _click(
        self, at: Point, button: Button, count: int, owner: int | None, unmoved: Window | None
    ) -> None:
        require_control(self._api, owner)
        self._check(at, owner, unmoved)
        self._move(at)
        held = self._physical(button)
        pair = [mouse_record(DOWN[held]), mouse_record(UP[held])]
        self._send(pair * max(1, min(count, MAX_CLICKS)))

    def _check(self, at: Point, owner: int | None, unmoved: Window | None) -> None:
        if owner is not None and owner not in self._windows.owners_at(at):
            raise ClickRefused(
                f"Another window covers {at.x},{at.y}, so nothing was clicked.",
                "Focus the window, or look at the screen with take_screenshot.",
            )
        if unmoved is not None and self._windows.place_of(unmoved.id) != unmoved.rect:
            raise ClickRefused("The window has moved, so nothing was clicked.", "Try again.")

    def _drag(
        self, start: Point, end: Point, button: Button, owner: int | None, unmoved: Window | None
    ) -> None:
        """In small steps: programs start a drag only after the pointer has moved a little."""
        require_control(self._api, owner)
        self._check(start, owner, unmoved)
        self._move(start)
        held = self._physical(button)
        self._send([mouse_record(DOWN[held])])
        try:
            for step in range(1, DRAG_STEPS + 1):
                time.sleep(PAUSE)
                self._move(start.towards(end, step / DRAG_STEPS))
        finally:
            self._send([mouse_record(UP[held])])

    def _physical(self, button: Button) -> Button:
        """The button to press: left-handed users have the two main ones swapped."""
        if button == "middle" or not self._user.GetSystemMetrics(SWAPPED_BUTTONS):
            return button
        return "right" if button == "left" else "left"

    def _move(self, to: Point) -> None:
        """As input, which programs see; rounding is corrected by setting the position."""
        require_control(self._api, None)
        x, y = absolute(to, self._displays.whole())
        self._send([mouse_record(MOVE | ABSOLUTE | VIRTUAL_DESK, x, y)])
        now = NativePoint()
        self._user.GetCursorPos(ctypes.byref(now))
        if (now.x, now.y) != (to.x, to.y):
            self._user.SetCursorPos(to.x, to.y)

    def _scroll(self, at: Point, down: int, right: int) -> None:
        """A positive wheel turns away from the user: up, and to the right."""
        self._move(at)
        for flags, steps in ((WHEEL, -down), (SIDE_WHEEL, right)):
            notch = NOTCH if steps > 0 else -NOTCH
            for _ in range(min(abs(steps), MAX_SCROLL)):
                self._send([mouse_record(flags, data=notch)])

    def _type(self, text: str, window: int, stop: threading.Event) -> None:
        require_control(self._api, self._windows.get(window).application)
        for done in range(0, len(text), BATCH):
            if stop.is_set() or not self._windows.is_active(window):
                reason = "it was stopped" if stop.is_set() else "the window lost the focus"
                raise ToolFailure(f"Only {done} of {len(text)} characters were typed: {reason}.")
            for character in text[done : done + BATCH]:
                self._send(self._records(character))
            self._windows.wait_until_ready(window)

    def _records(self, character: str) -> list[InputRecord]:
        if character in CONTROLS:
            return records_of_keys([KEYS[CONTROLS[character]]], self._scan_code)
        return records_of_character(character)

    def _press(self, chord: str, window: int | None, times: int) -> None:
        keys = keys_of_chord(chord, self._user.VkKeyScanW)
        process = None
        if window is not None:
            process = self._windows.get(window).application
            if not self._windows.is_active(window):
                raise ToolFailure("The window is not active, so no key was pressed.", "Focus it first.")
        require_control(self._api, process)
        for _ in range(times):
            self._send(records_of_keys(keys, self._scan_code))
        if window is not None:
            self._windows.wait_until_ready(window)

    @property
    def _scan_code(self) -> Callable[[int], int]:
        return lambda key: int(self._user.MapVirtualKeyW(key, TO_SCAN_CODE))

    def _send(self, records: Sequence[InputRecord]) -> None:
        array = (InputRecord * len(records))(*records)
        if self._user.SendInput(len(records), array, sizeof(InputRecord)) != len(records):
            raise ToolFailure("Windows blocked the input.", "Another program may block it: ask the user.")


def absolute(point: Point, whole: Rect) -> tuple[int, int]:
    """The middle of a pixel in the units of SendInput, which cover all monitors."""
    x = ((point.x - whole.x) * 2 + 1) * UNITS // (whole.width * 2)
    y = ((point.y - whole.y) * 2 + 1) * UNITS // (whole.height * 2)
    return x, y
