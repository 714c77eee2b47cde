"""Reports the user's keys and clicks through the RECORD extension, in the order of the X server.

The connection on which the events come can do nothing else, so it has a thread of its own; another
connection ends the recording.
"""

from __future__ import annotations

import asyncio
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import xcffib
import xcffib.record
from xcffib.record import CS, ExtRange, Range, Range8, Range16

from toolcrib.bundled.desktop.backends.x11.connection import XConnection, XThread
from toolcrib.bundled.desktop.backends.x11.key_remapping import read_rows
from toolcrib.bundled.desktop.backends.x11.keysyms import keysym_of, modifiers_of, name_of, text_of
from toolcrib.bundled.desktop.backends.x11.target import DisplayTarget
from toolcrib.bundled.desktop.geometry import Point
from toolcrib.bundled.desktop.user_input import InputKind, UserInput
from toolcrib.serverkit.context import ToolFailure

KEY_PRESS, BUTTON_PRESS, BUTTON_RELEASE = 2, 4, 5
FROM_SERVER, END_OF_DATA = 0, 5
_EVENT = struct.Struct("=BBHIIIIhhhhHBx")
START_PATIENCE = 5.0


class X11InputWatch:
    """Made by `start`."""

    def __init__(self, control: XThread, on_input: Callable[[UserInput], None]) -> None:
        self._control = control
        self._on_input = on_input
        self._context = 0
        self._rows: dict[int, list[int]] = {}
        self._is_closed = False
        self._begun = threading.Event()

    @classmethod
    async def start(
        cls, target: DisplayTarget, control: XThread, on_input: Callable[[UserInput], None]
    ) -> X11InputWatch:
        """Raises `ToolFailure` if the X server has no RECORD extension."""
        made = cls(control, on_input)
        await control.run(made._prepare)
        events = await asyncio.to_thread(XConnection, target.display, target.cookie)
        threading.Thread(target=made._listen, args=(events,), name="desktop-record", daemon=True).start()
        await asyncio.to_thread(made._begun.wait, START_PATIENCE)
        return made

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._control.post(self._disable)

    def _prepare(self, connection: XConnection) -> None:
        try:
            extension = connection.extension(xcffib.record)
            extension.QueryVersion(1, 13).reply()
        except (xcffib.XcffibException, KeyError):
            raise ToolFailure("This X server cannot record input: it lacks the RECORD extension.") from None
        self._read_keys(connection)
        self._context = connection.raw.generate_id()
        ranges = [_device_events(KEY_PRESS, BUTTON_RELEASE)]
        extension.CreateContext(self._context, 0, 1, 1, [CS.AllClients], ranges, is_checked=True).check()

    def _disable(self, connection: XConnection) -> None:
        extension = connection.extension(xcffib.record)
        extension.DisableContext(self._context)
        extension.FreeContext(self._context)
        connection.raw.flush()

    def _read_keys(self, connection: XConnection) -> None:
        self._rows = read_rows(connection)

    def _listen(self, events: XConnection) -> None:
        try:
            cookie = events.extension(xcffib.record).EnableContext(self._context)
            events.raw.flush()
            while (reply := cookie.reply()).category != END_OF_DATA:
                self._begun.set()
                if reply.category == FROM_SERVER and not self._is_closed:
                    self._report(bytes(reply.data.buf()))
        except xcffib.XcffibException:
            pass  # the display has gone
        finally:
            events.raw.disconnect()

    def _report(self, data: bytes) -> None:
        for kind, code, time, at, state in _events(data):
            if kind == KEY_PRESS:
                found = self._key(code, time, at, state)
                if found is not None:
                    self._on_input(found)
            elif kind in (BUTTON_PRESS, BUTTON_RELEASE):
                word: InputKind = "button_press" if kind == BUTTON_PRESS else "button_release"
                modifiers = modifiers_of(state, "")
                self._on_input(UserInput(word, at, time, button=code, modifiers=modifiers))

    def _key(self, code: int, time: int, at: Point, state: int) -> UserInput | None:
        keysym = keysym_of(self._rows.get(code, ()), state)
        text = text_of(keysym)
        name = name_of(keysym)
        if not keysym:
            self._control.post(self._read_keys)  # the layout may have changed
        if not text and not name:
            return None
        return UserInput("key_press", at, time, name, text, modifiers_of(state, text))


def _device_events(first: int, last: int) -> Any:
    none8, none16 = Range8.synthetic(0, 0), Range16.synthetic(0, 0)
    extension = ExtRange.synthetic(none8, none16)
    return Range.synthetic(
        none8, none8, extension, extension, none8, Range8.synthetic(first, last), none8, False, False
    )


def _events(data: bytes) -> Iterator[tuple[int, int, int, Point, int]]:
    """Kind, key code or button, time, position and modifiers of each."""
    for start in range(0, len(data) - len(data) % _EVENT.size, _EVENT.size):
        kind, code, _, time, _, _, _, x, y, _, _, state, _ = _EVENT.unpack_from(data, start)
        yield kind & 0x7F, code, time, Point(x, y), state
