"""Keeps the presses of separate calls apart: programs take two in a row at one place for a double click.
Decides the pause between clicks and the distance at which none is needed.

A drag that begins where the last one did would select whole words, and a second click on a file would open
it. A double click that is wanted is one call with a count.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable

from toolcrib.bundled.desktop.backend import Button, ClickRefused
from toolcrib.bundled.desktop.geometry import Point

INTERVAL = 0.51
"""Seconds between presses that are certainly two clicks: Chromium waits for 0.5 s, GTK and Qt for 0.4 s."""
DISTANCE = 10
"""Pixels, in either direction, that are certainly too far for a double click."""


class SeparatePresses:
    def __init__(
        self,
        interval: float = INTERVAL,
        *,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._interval = interval
        self._now = now
        self._sleep = sleep
        self._one_at_a_time = asyncio.Lock()
        self._last: dict[Button, tuple[Point | None, float]] = {}
        """Where each button was pressed last, and when."""

    @contextlib.asynccontextmanager
    async def press(self, button: Button | None, at: Point | None) -> AsyncIterator[None]:
        """Press the button in the block, which starts when its last press there is long enough ago.

        `button` is None for a block that presses none; `at` is None for where the pointer is.
        """
        if button is None:
            yield
            return
        async with self._one_at_a_time:
            await self._sleep(self._remaining(button, at))
            pressed = True
            try:
                yield
            except ClickRefused:
                pressed = False
                raise
            finally:
                if pressed:
                    self._remember(button, at)

    def _remaining(self, button: Button, at: Point | None) -> float:
        place, time_of_press = self._last.get(button, (None, -math.inf))
        if at is not None and place is not None and _is_far(at, place):
            return 0.0
        return max(0.0, time_of_press + self._interval - self._now())

    def _remember(self, button: Button, at: Point | None) -> None:
        self._last[button] = (at, self._now())


def _is_far(one: Point, other: Point) -> bool:
    return max(abs(one.x - other.x), abs(one.y - other.y)) > DISTANCE
