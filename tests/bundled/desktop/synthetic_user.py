"""A user of the display: a client of its own that types and clicks through XTEST."""

from __future__ import annotations

import xcffib
import xcffib.xtest

from toolcrib.bundled.desktop.backends.x11.connection import XConnection
from toolcrib.bundled.desktop.backends.x11.keysyms import keysym_of_character, keysym_of_key
from toolcrib.bundled.desktop.backends.x11.target import DisplayTarget
from toolcrib.bundled.desktop.geometry import Point

KEY_PRESS, KEY_RELEASE, BUTTON_PRESS, BUTTON_RELEASE, MOTION = 2, 3, 4, 5, 6


class SyntheticUser:
    """Uses the keys of the layout only."""

    def __init__(self, target: DisplayTarget) -> None:
        self._connection = XConnection(target.display, target.cookie)
        self.done = 0
        """Keys and buttons, pressed or released, that a recorder gets."""
        setup = self._connection.raw.setup
        count = setup.max_keycode - setup.min_keycode + 1
        reply = self._connection.core.GetKeyboardMapping(setup.min_keycode, count).reply()
        width, keysyms = reply.keysyms_per_keycode, list(reply.keysyms)
        self._keys: dict[int, tuple[int, int]] = {}
        for index, keysym in enumerate(keysyms):
            if keysym and index % width < 2:
                self._keys.setdefault(keysym, (setup.min_keycode + index // width, index % width))

    def type(self, text: str) -> None:
        for character in text:
            self._tap(keysym_of_character(character))
        self._connection.sync()

    def press(self, *names: str) -> None:
        self.done += 1
        codes = [self._keys[keysym_of_key(name)][0] for name in names]
        for code in codes:
            self._input(KEY_PRESS, code)
        for code in reversed(codes):
            self._input(KEY_RELEASE, code)
        self._connection.sync()

    def click(self, at: Point, button: int = 1, times: int = 1) -> None:
        self.done += 2 * times
        self._input(MOTION, 0, at)
        for _ in range(times):
            self._input(BUTTON_PRESS, button)
            self._input(BUTTON_RELEASE, button)
        self._connection.sync()

    def drag(self, start: Point, end: Point) -> None:
        self.done += 2
        self._input(MOTION, 0, start)
        self._input(BUTTON_PRESS, 1)
        self._input(MOTION, 0, end)
        self._input(BUTTON_RELEASE, 1)
        self._connection.sync()

    def close(self) -> None:
        self._connection.raw.disconnect()

    def _tap(self, keysym: int) -> None:
        self.done += 1
        code, level = self._keys[keysym]
        shift = self._keys[keysym_of_key("shift")][0]
        if level:
            self._input(KEY_PRESS, shift)
        self._input(KEY_PRESS, code)
        self._input(KEY_RELEASE, code)
        if level:
            self._input(KEY_RELEASE, shift)

    def _input(self, kind: int, detail: int, at: Point | None = None) -> None:
        x, y = (at.x, at.y) if at else (0, 0)
        extension = self._connection.extension(xcffib.xtest)
        extension.FakeInput(kind, detail, 0, self._connection.root, x, y, 0)
