"""Stops all input at once, and refuses more until the user allows it again: the default stop key
(ctrl+alt+escape), its modifiers, and the error message for the model."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from toolcrib.serverkit.context import ToolContext, ToolFailure

if TYPE_CHECKING:
    from toolcrib.bundled.desktop.backend import Backend
    from toolcrib.bundled.desktop.backends.x11.connection import XConnection, XThread
    from toolcrib.bundled.desktop.session import DesktopSession

logger = logging.getLogger(__name__)
DEFAULT_STOP_KEY = "ctrl+alt+escape"
MODIFIERS = {"shift": 1, "ctrl": 4, "control": 4, "alt": 8, "super": 64}
SHIFT, CAPS_LOCK, NUM_LOCK = 1, 2, 16
"""A press of ours or a lock may add these to the user's keys at any moment."""
KEY_RELEASE, BUTTON_RELEASE = 3, 5
BUTTONS = {1: 1 << 8, 2: 1 << 9, 3: 1 << 10}

T = TypeVar("T")
HOW = "The user can allow input again on the page of this server, or with: toolcrib resume {name}"


class StopKey:
    """The key that stops all input on the user's display; there is none on a display of our own."""

    def __init__(self, session: DesktopSession, chord: str, stop: Callable[[str], None]) -> None:
        """`stop` is called in the event loop when the key is pressed."""
        self._session = session
        self._chord = chord
        self._stop = stop
        self._watched: Backend | None = None
        self._thread: XThread | None = None

    @property
    def heard(self) -> str:
        """The keys while they are listened to; empty if they are not."""
        return self._chord if self._thread is not None else ""

    async def listen(self, context: ToolContext | None = None) -> None:
        """Before anything is pressed; logs a warning if that is not possible."""
        backend = await self._session.backend(context)
        if backend is self._watched or self._session.settings.headless or not self._chord:
            return
        self.close()
        self._watched = backend
        try:
            self._thread = await _listen(backend, self._chord, self._stop)
        except ToolFailure as failure:
            logger.warning("The stop key %s is not available: %s", self._chord, failure.message)

    def close(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.close()


async def _listen(backend: Backend, chord: str, stop: Callable[[str], None]) -> XThread:
    from toolcrib.bundled.desktop.backends.x11.connection import XThread

    target = getattr(backend, "target", None)
    if backend.name != "x11" or target is None:
        raise ToolFailure("It works on X11 displays only.")
    loop = asyncio.get_running_loop()
    thread = await asyncio.to_thread(XThread, target.display, target.cookie, "stop-key")
    try:
        code = await thread.run(_grab, chord)
    except BaseException:
        thread.close()
        raise
    thread.connection.on_event = lambda event: _heard(event, code, loop, stop, chord)
    return thread


def release_all(backend: Backend) -> None:
    """Release every key and button that we may have pressed; those that the user holds stay pressed."""
    acting = getattr(backend, "acting", None)
    if acting is not None:
        acting.post(_release)


def _heard(
    event: Any, code: int, loop: asyncio.AbstractEventLoop, stop: Callable[[str], None], chord: str
) -> None:
    from xcffib.xproto import KeyPressEvent

    if isinstance(event, KeyPressEvent) and event.detail == code and not loop.is_closed():
        loop.call_soon_threadsafe(stop, chord)


def _grab(connection: XConnection, chord: str) -> int:
    """Have the server send us this combination instead of the active window; returns the key's code."""
    import xcffib
    from xcffib.xproto import GrabMode

    from toolcrib.bundled.desktop.backends.x11.key_remapping import read_rows
    from toolcrib.bundled.desktop.backends.x11.keysyms import keysym_of_key

    *modifiers, key = [part.strip().casefold() for part in chord.split("+")]
    if not modifiers or any(modifier not in MODIFIERS for modifier in modifiers):
        raise ToolFailure(f"{chord!r} is not a combination of keys.", "Such as ctrl+alt+escape.")
    keysym = keysym_of_key(key)
    code = next((code for code, row in read_rows(connection).items() if keysym in row), None)
    if code is None:
        raise ToolFailure("No key of this keyboard has that name.")
    mask = 0
    for modifier in modifiers:
        mask |= MODIFIERS[modifier]
    for extra in itertools.product((0, SHIFT), (0, CAPS_LOCK), (0, NUM_LOCK)):
        request = connection.core.GrabKey(
            False, connection.root, mask | sum(extra), code, GrabMode.Async, GrabMode.Async, is_checked=True
        )
        try:
            request.check()
        except xcffib.Error:
            raise ToolFailure(f"Another program uses {chord}.", "Choose another one: --stop-key.") from None
    return code


def _release(connection: XConnection) -> None:
    import xcffib.xtest

    from toolcrib.bundled.desktop.backends.x11.key_remapping import pressed_keys

    xtest = connection.extension(xcffib.xtest)
    for code in pressed_keys(connection):
        xtest.FakeInput(KEY_RELEASE, code, 0, connection.root, 0, 0, 0)
    mask = connection.core.QueryPointer(connection.root).reply().mask
    for button, bit in BUTTONS.items():
        if mask & bit:
            xtest.FakeInput(BUTTON_RELEASE, button, 0, connection.root, 0, 0, 0)
    connection.sync()


class InputStopped(ToolFailure):
    """The user stopped all input."""

    kind = "input_stopped"

    def __init__(self, name: str) -> None:
        super().__init__(
            "The user stopped all input on this desktop. Do not try again.", HOW.format(name=name)
        )


class StopSwitch:
    """Used in the event loop of its server."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._running: set[asyncio.Task[Any]] = set()
        self.stopped_by = ""
        """The key or surface by which input was stopped; empty while it is allowed."""
        self.on_stop: Callable[[], None] = lambda: None

    def stop(self, by: str) -> None:
        """Cancel every running action; nothing else is started until `resume`."""
        self.stopped_by = by
        for task in self._running:
            task.cancel()
        self.on_stop()

    def resume(self) -> None:
        self.stopped_by = ""

    async def run(self, action: Coroutine[Any, Any, T]) -> T:
        """Run an action that can be stopped; raises `InputStopped` if it is."""
        if self.stopped_by:
            action.close()
            raise InputStopped(self.name)
        task = asyncio.get_running_loop().create_task(action)
        self._running.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if not task.cancelled() or not self.stopped_by or _is_cancelled():
                raise
            raise InputStopped(self.name) from None
        finally:
            self._running.discard(task)


def _is_cancelled() -> bool:
    """Whether the caller itself was cancelled, and not only the action."""
    current = asyncio.current_task()
    return current is not None and current.cancelling() > 0
