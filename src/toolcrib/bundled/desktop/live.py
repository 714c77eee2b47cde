"""The screen of a desktop of our own for the page: a picture whenever something has changed, while asked for.
Decides size of the picture and pause between pictures; also the page's buttons to stop and resume input.

Nothing is captured or encoded unless a request waits for it. The user's own screen is never shown.
"""

from __future__ import annotations

import asyncio
import base64
import time
import zlib
from collections.abc import Mapping
from typing import Any

from toolcrib.bundled.desktop.backend import Backend
from toolcrib.bundled.desktop.consent.stop import StopKey, StopSwitch
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.session import HostMethod
from toolcrib.serverkit.threads import in_thread

SCREEN, STOP, RESUME = "toolcrib/screen", "toolcrib/stop", "toolcrib/resume"
LONGEST_SIDE = 1280
LONGEST_WAIT = 30.0
PAUSE = 0.2
"""Seconds between a change and its picture, which may contain more changes."""
CLOSED_PAUSE = 0.5
"""Seconds between two looks at whether the display has been opened."""


class LiveView:
    def __init__(self, session: DesktopSession, switch: StopSwitch, stop_key: StopKey) -> None:
        self._session = session
        self._switch = switch
        self._stop_key = stop_key
        self._news = asyncio.Event()

    @property
    def methods(self) -> dict[str, HostMethod]:
        return {SCREEN: self._screen, STOP: self._stop, RESUME: self._resume}

    def changed(self) -> None:
        """Something other than the pixels has changed."""
        self._news.set()
        self._news = asyncio.Event()

    async def _screen(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The state, with a picture if it differs from `seen`; waits for that up to `wait` seconds.

        `state_only`: at once and without a picture.
        """
        wait = params.get("wait")
        patience = min(max(0.0, wait), LONGEST_WAIT) if isinstance(wait, int | float) else 0.0
        if params.get("state_only"):
            return self._state()
        deadline = time.monotonic() + patience
        while True:
            state = await self._look(str(params.get("seen") or ""))
            left = deadline - time.monotonic()
            if state["seen"] != params.get("seen") or left <= 0:
                return state
            await self._wait(left)

    async def _stop(self, params: Mapping[str, Any]) -> dict[str, Any]:
        self._switch.stop(str(params.get("by") or "the page"))
        return self._state()

    async def _resume(self, params: Mapping[str, Any]) -> dict[str, Any]:
        self._switch.resume()
        self.changed()
        return self._state()

    def _state(self) -> dict[str, Any]:
        return {
            "own": self._session.settings.headless is not None,
            "open": self._session.opened is not None,
            "stopped": self._switch.stopped_by,
            "stop_key": self._stop_key.heard,
        }

    async def _look(self, seen: str) -> dict[str, Any]:
        state = self._state()
        known = f"{state['open']}/{state['stopped']}"
        backend = self._session.opened
        if backend is None or not state["own"]:
            return {**state, "seen": known}
        try:
            return {**state, **await _picture(backend, known, seen)}
        except ToolFailure:
            if backend.alive:  # it is busy; the last picture stays
                return {**state, "seen": seen or known}
            return {**state, "open": False, "seen": f"False/{state['stopped']}"}

    async def _wait(self, longest: float) -> None:
        """Return when the screen or the state has changed."""
        news = asyncio.create_task(self._news.wait())
        pixels = asyncio.create_task(self._next_pixels(longest))
        try:
            await asyncio.wait((news, pixels), timeout=longest, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
            pixels.cancel()

    async def _next_pixels(self, longest: float) -> None:
        backend = self._session.opened
        if backend is None or self._session.settings.headless is None:
            await asyncio.sleep(min(CLOSED_PAUSE, longest))
            return
        deadline = time.monotonic() + longest
        with backend.events.listen() as changes:
            while (left := deadline - time.monotonic()) > 0:
                change = await changes.next(min(left, CLOSED_PAUSE))
                if not backend.alive or (change is not None and change.kind == "pixels"):
                    break
        await asyncio.sleep(PAUSE)


async def _picture(backend: Backend, known: str, seen: str) -> dict[str, Any]:
    from toolcrib.bundled.desktop.pictures import encode

    taken = await backend.capture.screen()
    now = f"{known}/{await in_thread(zlib.adler32, taken.pixels):08x}"
    if now == seen:
        return {"seen": now}
    picture = await in_thread(encode, taken, "jpeg", LONGEST_SIDE)
    data = base64.b64encode(picture.image.data).decode()
    return {"seen": now, "picture": data, "width": picture.width, "height": picture.height}
