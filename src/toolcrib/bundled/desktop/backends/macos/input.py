"""Input on macOS: events of the pointer and the keyboard, posted through Quartz."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from typing import cast

from toolcrib.bundled.desktop.backend import Button, ClickRefused, Window
from toolcrib.bundled.desktop.backends.holding import HeldChange, HeldDown
from toolcrib.bundled.desktop.backends.macos.frameworks import Frameworks
from toolcrib.bundled.desktop.backends.macos.keycodes import KEYS, KeyEvent, event_of_key, events_of_chord
from toolcrib.bundled.desktop.backends.macos.permissions import require_accessibility
from toolcrib.bundled.desktop.backends.macos.windows import MacWindows
from toolcrib.bundled.desktop.backends.worker import Worker
from toolcrib.bundled.desktop.geometry import Point
from toolcrib.serverkit.context import ToolFailure

DOWN: dict[Button, str] = {"left": "LeftMouseDown", "right": "RightMouseDown", "middle": "OtherMouseDown"}
UP: dict[Button, str] = {"left": "LeftMouseUp", "right": "RightMouseUp", "middle": "OtherMouseUp"}
DRAGGED: dict[Button, str] = {
    "left": "LeftMouseDragged",
    "right": "RightMouseDragged",
    "middle": "OtherMouseDragged",
}
NUMBERS: dict[Button, int] = {"left": 0, "right": 1, "middle": 2}
PAUSE = 0.008
"""Seconds between two events, so that programs see them apart."""
DRAG_STEPS = 12
MAX_CLICKS = 3
MAX_SCROLL = 100
LINES = 3
"""Of one step of a wheel."""
BATCH = 50
"""Characters between two looks at whether the window is still active and typing goes on."""
TYPING_DEADLINE = 120.0
_CONTROLS = {"\n": "enter", "\r": "enter", "\t": "tab", "\b": "backspace"}


class MacInput:
    def __init__(self, mac: Frameworks, worker: Worker, windows: MacWindows) -> None:
        self._mac = mac
        self._quartz = mac.quartz
        self._worker = worker
        self._windows = windows
        self._at: Point | None = None
        """Where the last event was."""
        self._held = HeldDown(self._send_held, self.move)
        worker.at_end(lambda: self._change(self._held.let_go()))

    async def click(
        self,
        at: Point,
        *,
        button: Button = "left",
        count: int = 1,
        owner: int | None = None,
        unmoved: Window | None = None,
    ) -> None:
        await self._run(self._click, at, button, count, owner, unmoved)

    async def drag(
        self,
        start: Point,
        end: Point,
        *,
        button: Button = "left",
        owner: int | None = None,
        unmoved: Window | None = None,
    ) -> None:
        await self._run(self._drag, start, end, button, owner, unmoved)

    async def move(self, to: Point) -> None:
        button = cast("Button | None", self._held.button)
        await self._run(self._mouse, DRAGGED[button] if button else "MouseMoved", to, button or "left")

    async def scroll(self, at: Point, *, down: int = 0, right: int = 0) -> None:
        await self._run(self._scroll, at, down, right)

    async def type_text(self, text: str, window: int) -> None:
        stop = threading.Event()
        try:
            await self._run(self._type, text.replace("\r\n", "\n"), window, stop, timeout=TYPING_DEADLINE)
        except (asyncio.CancelledError, Exception):
            stop.set()  # the thread stops at the next batch
            raise

    async def press(self, chord: str, window: int | None, *, times: int = 1) -> None:
        events = events_of_chord(chord)
        await self._run(self._press, events, window, times)

    async def hold(
        self, *, keys: Sequence[str] = (), button: Button | None = None, at: Point | None = None
    ) -> None:
        await self._held.hold(keys, button, at)

    async def release(
        self, *, keys: Sequence[str] = (), button: Button | None = None, at: Point | None = None
    ) -> None:
        await self._held.release(keys, button, at)

    async def _send_held(self, changes: Sequence[HeldChange]) -> None:
        await self._run(self._change, changes)

    def _change(self, changes: Sequence[HeldChange]) -> None:
        for each in changes:
            if each.is_button:
                button = cast("Button", each.name)
                self._mouse((DOWN if each.pressed else UP)[button], self._pointer(), button, 1)
            else:
                self._key(event_of_key(each.name, each.pressed, self._held.keys))

    def _pointer(self) -> Point:
        if self._at is None:
            raise ToolFailure("It is unknown where the pointer is.", "Give the position.")
        return self._at

    async def _run(self, function: object, *arguments: object, timeout: float = 10.0) -> None:
        require_accessibility(self._mac)
        assert callable(function)
        await self._worker.run(function, *arguments, timeout=timeout)

    def _click(
        self, at: Point, button: Button, count: int, owner: int | None, unmoved: Window | None
    ) -> None:
        self._check(at, owner, unmoved)
        self._mouse("MouseMoved", at)
        for number in range(1, max(1, min(count, MAX_CLICKS)) + 1):
            self._mouse(DOWN[button], at, button, number)
            self._mouse(UP[button], at, button, number)

    def _check(self, at: Point, owner: int | None, unmoved: Window | None) -> None:
        if owner is not None and self._windows.owner_at(at) != owner:
            raise ClickRefused(
                f"Another window covers {at.x},{at.y}, so nothing was clicked.",
                "Focus the window, or look at the screen with take_screenshot.",
            )
        if unmoved is not None and self._windows.get(unmoved.id).rect != unmoved.rect:
            raise ClickRefused("The window has moved, so nothing was clicked.", "Try again.")

    def _drag(
        self, start: Point, end: Point, button: Button, owner: int | None, unmoved: Window | None
    ) -> None:
        """In small steps: programs start a drag only after the pointer has moved a little."""
        self._check(start, owner, unmoved)
        self._mouse("MouseMoved", start)
        self._mouse(DOWN[button], start, button)
        at = start
        try:
            for step in range(1, DRAG_STEPS + 1):
                at = start.towards(end, step / DRAG_STEPS)
                self._mouse(DRAGGED[button], at, button)
        finally:
            self._mouse(UP[button], at, button)

    def _scroll(self, at: Point, down: int, right: int) -> None:
        """Positive numbers of an event scroll up and to the left."""
        self._mouse("MouseMoved", at)
        for steps, column in ((down, 0), (right, 1)):
            lines = [0, 0]
            lines[column] = -LINES if steps > 0 else LINES
            for _ in range(min(abs(steps), MAX_SCROLL)):
                unit = self._quartz.kCGScrollEventUnitLine
                event = self._quartz.CGEventCreateScrollWheelEvent(None, unit, 2, *lines)
                self._post(event)

    def _type(self, text: str, window: int, stop: threading.Event) -> None:
        for done, character in enumerate(text):
            if done % BATCH == 0 and (stop.is_set() or not self._windows.get(window).active):
                reason = "it was stopped" if stop.is_set() else "the window lost the focus"
                raise ToolFailure(f"Only {done} of {len(text)} characters were typed: {reason}.")
            self._type_one(character)

    def _type_one(self, character: str) -> None:
        """As a key without a code that carries the character, in any layout."""
        if character in _CONTROLS:
            for pressed in (True, False):
                self._key(KeyEvent(KEYS[_CONTROLS[character]], pressed, 0))
            return
        if not character.isprintable() and not character.isspace():
            raise ToolFailure(f"The character U+{ord(character):04X} cannot be typed.", "Remove it.")
        units = len(character.encode("utf-16-le", "surrogatepass")) // 2
        for pressed in (True, False):
            event = self._quartz.CGEventCreateKeyboardEvent(None, 0, pressed)
            self._quartz.CGEventKeyboardSetUnicodeString(event, units, character)
            self._quartz.CGEventSetFlags(event, 0)
            self._post(event)

    def _press(self, events: list[KeyEvent], window: int | None, times: int) -> None:
        if window is not None and not self._windows.get(window).active:
            raise ToolFailure("The window is not active, so no key was pressed.", "Focus it first.")
        for _ in range(times):
            for event in events:
                self._key(event)

    def _key(self, key: KeyEvent) -> None:
        event = self._quartz.CGEventCreateKeyboardEvent(None, key.code, key.pressed)
        self._quartz.CGEventSetFlags(event, key.flags)
        self._post(event)

    def _mouse(self, kind: str, at: Point, button: Button = "left", clicks: int = 0) -> None:
        self._at = at
        number = getattr(self._quartz, f"kCGEvent{kind}")
        position = self._quartz.CGPointMake(at.x, at.y)
        event = self._quartz.CGEventCreateMouseEvent(None, number, position, NUMBERS[button])
        if clicks:
            self._quartz.CGEventSetIntegerValueField(event, self._quartz.kCGMouseEventClickState, clicks)
        self._post(event)

    def _post(self, event: object) -> None:
        self._quartz.CGEventPost(self._quartz.kCGHIDEventTap, event)
        time.sleep(PAUSE)
