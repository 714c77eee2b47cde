"""Buttons and keys that stay down between calls, and are released when nobody does it."""

from __future__ import annotations

import time

from toolcrib.bundled.desktop.backend import Button
from toolcrib.bundled.desktop.backends.x11 import pointer
from toolcrib.bundled.desktop.backends.x11.connection import XConnection
from toolcrib.bundled.desktop.backends.x11.keyboard import Keyboard
from toolcrib.bundled.desktop.geometry import Point

LONGEST = 59.0
"""Seconds; a little less than the timer that asks."""


class HeldInput:
    """Used from the thread of its connection."""

    def __init__(self, keyboard: Keyboard) -> None:
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
        self._pressed = pointer.WaitingProgram(connection, at or pointer.place(connection))
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
