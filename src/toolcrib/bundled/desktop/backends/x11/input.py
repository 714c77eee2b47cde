"""Input through the XTEST extension: entry point for pointer and keyboard, the time limit for typing, and
after how many seconds keys and buttons that are held are released."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence

from toolcrib.bundled.desktop.backend import Button, Window
from toolcrib.bundled.desktop.backends.x11 import pointer
from toolcrib.bundled.desktop.backends.x11.connection import XConnection, XThread
from toolcrib.bundled.desktop.backends.x11.displays import pointer_position
from toolcrib.bundled.desktop.backends.x11.key_remapping import put_back_of_ended
from toolcrib.bundled.desktop.backends.x11.keyboard import X11Keyboard
from toolcrib.bundled.desktop.geometry import Point
from toolcrib.bundled.desktop.separate_presses import SeparatePresses

LONGEST = 59.0
"""Seconds; a little less than the timer that asks."""


class HeldInput:
    """Used from the thread of its connection."""

    def __init__(self, keyboard: X11Keyboard) -> None:
        self._keyboard = keyboard
        self._buttons: dict[Button, float] = {}
        self._keys: dict[str, tuple[int, float]] = {}
        """Key codes by name, with the time they went down."""
        self._pressed: pointer.WaitingProgram | None = None
        """The program that has a button of these down."""

    def hold(
        self, connection: XConnection, keys: tuple[str, ...], button: Button | None, at: Point | None
    ) -> None:
        if at is not None:
            pointer.move(connection, at)
        codes = self._keyboard.codes(connection, keys)
        for name, code in zip(keys, codes, strict=True):
            if name not in self._keys:
                self._keyboard.down(connection, code)
                self._keys[name] = (code, time.monotonic())
        if button is not None and button not in self._buttons:
            self._press(connection, button, at)
        connection.sync()

    def _press(self, connection: XConnection, button: Button, at: Point | None) -> None:
        """Returns when the program has processed it: what follows belongs to this press."""
        self._pressed = pointer.WaitingProgram(connection, at or pointer_position(connection))
        pointer.button_down(connection, button)
        self._buttons[button] = time.monotonic()
        self._pressed.wait()

    def release(
        self, connection: XConnection, keys: tuple[str, ...], button: Button | None, at: Point | None
    ) -> None:
        if at is not None:
            pointer.move(connection, at)
        if not keys and button is None:
            self.release_all(connection)
            return
        if button is not None and self._pressed is not None:
            self._pressed.wait()
        self._let_go(connection, [button] if button is not None else [], list(keys))
        if button is not None and self._pressed is not None:
            self._pressed.wait()
            self._pressed = None

    def release_all(self, connection: XConnection) -> None:
        self._let_go(connection, list(self._buttons), list(self._keys))

    def release_old(self, connection: XConnection) -> None:
        oldest = time.monotonic() - LONGEST
        buttons = [button for button, since in self._buttons.items() if since < oldest]
        self._let_go(connection, buttons, [name for name, (_, since) in self._keys.items() if since < oldest])

    def _let_go(self, connection: XConnection, buttons: list[Button], keys: list[str]) -> None:
        for button in buttons:
            if self._buttons.pop(button, None) is not None:
                pointer.button_up(connection, button)
        for name in reversed(keys):
            code, _ = self._keys.pop(name, (0, 0.0))
            if code:
                self._keyboard.up(connection, code)
        connection.sync()
        self._keyboard.give_back(connection)


TYPING_DEADLINE = 120.0
LONGEST_HOLD = 60.0


class X11Input:
    def __init__(self, thread: XThread) -> None:
        self._thread = thread
        self._keyboard = X11Keyboard()
        thread.post(put_back_of_ended)
        thread.at_close(self._keyboard.close)
        self._held = HeldInput(self._keyboard)
        thread.at_close(self._held.release_all)
        self._presses = SeparatePresses()

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
            await self._thread.run(pointer.click, at, button, count, owner, unmoved)

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
            await self._thread.run(pointer.drag, start, end, button, owner, unmoved)

    async def move(self, to: Point) -> None:
        await self._thread.run(pointer.move, to)

    async def scroll(self, at: Point, *, down: int = 0, right: int = 0) -> None:
        await self._thread.run(pointer.scroll, at, down, right)

    async def type_text(self, text: str, window: int) -> None:
        stop = threading.Event()
        try:
            await self._thread.run(self._keyboard.type_text, text, window, stop, timeout=TYPING_DEADLINE)
        except (asyncio.CancelledError, Exception):
            stop.set()  # the thread stops at the next batch
            raise

    async def press(self, chord: str, window: int | None, *, times: int = 1) -> None:
        await self._thread.run(self._keyboard.press, chord, window, times)

    async def hold(
        self, *, keys: Sequence[str] = (), button: Button | None = None, at: Point | None = None
    ) -> None:
        async with self._presses.press(button, at):
            await self._thread.run(self._held.hold, tuple(keys), button, at)
        asyncio.get_running_loop().call_later(LONGEST_HOLD, self._thread.post, self._held.release_old)

    async def release(
        self, *, keys: Sequence[str] = (), button: Button | None = None, at: Point | None = None
    ) -> None:
        await self._thread.run(self._held.release, tuple(keys), button, at)
