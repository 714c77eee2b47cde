"""Input through the XTEST extension."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

from toolcrib.bundled.desktop.backend import Button, Window
from toolcrib.bundled.desktop.backends.x11 import pointer
from toolcrib.bundled.desktop.backends.x11.connection import XThread
from toolcrib.bundled.desktop.backends.x11.holding import HeldInput
from toolcrib.bundled.desktop.backends.x11.keyboard import Keyboard
from toolcrib.bundled.desktop.backends.x11.lent_keys import put_back_of_ended
from toolcrib.bundled.desktop.geometry import Point
from toolcrib.bundled.desktop.separate_presses import SeparatePresses

TYPING_DEADLINE = 120.0
LONGEST_HOLD = 60.0


class X11Input:
    def __init__(self, thread: XThread) -> None:
        self._thread = thread
        self._keyboard = Keyboard()
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
