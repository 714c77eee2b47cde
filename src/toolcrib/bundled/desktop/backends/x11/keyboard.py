"""Types text in any script and layout, and presses combinations of keys."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import xcffib.xtest
from xcffib.xproto import KeyButMask

from toolcrib.bundled.desktop.backends.x11.connection import XConnection
from toolcrib.bundled.desktop.backends.x11.keymap import Keymap, KeyStroke, modifier_strokes
from toolcrib.bundled.desktop.backends.x11.keysyms import (
    keysym_of_character,
    keysym_of_key,
    keysyms_of_chord,
)
from toolcrib.bundled.desktop.backends.x11.pointer import owners_of
from toolcrib.bundled.desktop.backends.x11.windows import (
    PING_PATIENCE,
    POLL,
    active_window,
    answers_pings,
    is_active,
    ping,
    place_of,
)
from toolcrib.bundled.desktop.deadline import wait_until
from toolcrib.serverkit.context import ToolFailure

PRESS, RELEASE = 2, 3
BATCH = 200
"""Characters between two looks at whether the window is still active and nobody stopped us."""
WITHOUT_PING = 0.15
"""Seconds at least for a window that cannot say when it has processed its keys."""
PATIENCE = 10.0
"""Seconds for a window that can."""
LAYOUT_ATTEMPTS = 5


class Keyboard:
    """Used from the thread of its connection."""

    def __init__(self) -> None:
        self._keymap: Keymap | None = None

    def type_text(self, connection: XConnection, text: str, window: int, stop: threading.Event) -> None:
        """Raises `ToolFailure` with what was typed if the window loses the focus or `stop` is set."""
        keysyms = [keysym_of_character(character) for character in text.replace("\r\n", "\n")]
        keymap = self._current(connection)
        try:
            with _CapsLockOff(connection, self, keymap):
                self._type(connection, keymap, keysyms, window, stop)
        finally:
            keymap.give_back(connection)

    def _type(
        self, connection: XConnection, keymap: Keymap, keysyms: list[int], window: int, stop: threading.Event
    ) -> None:
        done = 0
        while done < len(keysyms):
            problem = _why_not(connection, window, stop)
            batch = [] if problem else self._prepare(connection, keymap, keysyms[done:], window)
            for keysym in batch:
                self.tap(connection, _stroke(keymap, keysym), keymap)
            done += len(batch)
            # Also for its own sake: keys that a program has not processed cannot be stopped any more.
            if problem or not batch or not barrier(connection, window):
                reason = problem or "the window does not process its keys"
                raise ToolFailure(f"Only {done} of {len(keysyms)} characters were typed: {reason}.")

    def press(self, connection: XConnection, chord: str, window: int | None, times: int) -> None:
        keymap = self._current(connection)
        keysyms = keysyms_of_chord(chord)
        try:
            if len(self._prepare(connection, keymap, keysyms, window)) < len(keysyms):
                reason = "The window does not process its keys, so none was pressed."
                raise ToolFailure(reason, "It may hang.")
            _press(connection, keymap, [_stroke(keymap, keysym) for keysym in keysyms], times)
            if window is not None:
                barrier(connection, window, PING_PATIENCE)  # a key may start something that takes long
        finally:
            self.give_back(connection)

    def give_back(self, connection: XConnection) -> None:
        """Give back borrowed keys that are not pressed, once the active window has processed them."""
        if self._keymap is None or not self._keymap.has_borrowed:
            return
        active = active_window(connection)
        if active is not None:
            barrier(connection, active, PING_PATIENCE)
        self._keymap.give_back(connection)

    def tap(self, connection: XConnection, stroke: KeyStroke, keymap: Keymap) -> None:
        shift = modifier_strokes(keymap) if stroke.shift else None
        if shift is not None:
            _key(connection, PRESS, shift)
        _key(connection, PRESS, stroke.code)
        _key(connection, RELEASE, stroke.code)
        if shift is not None:
            _key(connection, RELEASE, shift)

    def codes(self, connection: XConnection, names: Sequence[str]) -> list[int]:
        """The codes of keys by their names."""
        keymap = self._current(connection)
        keysyms = [keysym_of_key(name) for name in names]
        self._prepare(connection, keymap, keysyms, None)
        return [_stroke(keymap, keysym).code for keysym in keysyms]

    def down(self, connection: XConnection, code: int) -> None:
        _key(connection, PRESS, code)

    def up(self, connection: XConnection, code: int) -> None:
        _key(connection, RELEASE, code)

    def close(self, connection: XConnection) -> None:
        """Give back all keys."""
        if self._keymap is not None:
            self._keymap.clear(connection)

    def _current(self, connection: XConnection) -> Keymap:
        if self._keymap is None:
            self._keymap = Keymap(connection)
        self._keymap.refresh(connection)
        return self._keymap

    def _prepare(
        self, connection: XConnection, keymap: Keymap, keysyms: list[int], window: int | None
    ) -> list[int]:
        """As many of these as can be typed now; none if the window does not process its keys."""
        for _ in range(LAYOUT_ATTEMPTS):
            keymap.refresh(connection)
            keymap.borrow(connection, _needed(keymap, keysyms[:BATCH]))
            batch = _next_batch(keymap, keysyms)
            missing = keymap.missing(batch)
            for keysym in batch:
                keymap.use(keysym)
            # A key may only change after its last use has been processed.
            if window is not None and keymap.must_reuse(missing) and not barrier(connection, window):
                return []
            if not missing or keymap.lend(connection, missing, set(batch)):
                return batch
        raise ToolFailure("The keyboard layout is switched all the time.", "Try again later.")


def barrier(connection: XConnection, window: int, patience: float = PATIENCE) -> bool:
    """Wait until the window has processed the keys so far; False if it hangs."""
    connection.raw.flush()
    if answers_pings(connection, window):
        return ping(connection, window, patience)
    time.sleep(WITHOUT_PING)
    owners = owners_of(connection, window)
    wait_until(lambda: all(map(_is_waiting, owners)), PING_PATIENCE, POLL)
    return True


def _is_waiting(process: int) -> bool:
    """Whether it waits for something, such as events; True if that cannot be found out."""
    try:
        state = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except (OSError, IndexError):
        return True
    return state != b"R"


def _why_not(connection: XConnection, window: int, stop: threading.Event) -> str | None:
    """Why typing must not go on."""
    if stop.is_set():
        return "it was stopped"
    if place_of(connection, window) is None:
        return "the window has closed"  # a busy window manager may say so late
    return None if is_active(connection, window) else "the window lost the focus"


class _CapsLockOff:
    """Turns Caps Lock off for the block."""

    def __init__(self, connection: XConnection, keyboard: Keyboard, keymap: Keymap) -> None:
        self._connection, self._keyboard, self._keymap = connection, keyboard, keymap
        self._was_on = False

    def __enter__(self) -> None:
        state = self._connection.core.QueryPointer(self._connection.root).reply()
        self._was_on = bool(state.mask & KeyButMask.Lock)
        self._toggle()

    def __exit__(self, *_: object) -> None:
        self._toggle()

    def _toggle(self) -> None:
        stroke = self._keymap.stroke(keysym_of_key("capslock"))
        if self._was_on and stroke is not None:
            self._keyboard.tap(self._connection, KeyStroke(stroke.code, False), self._keymap)


def _needed(keymap: Keymap, keysyms: list[int]) -> int:
    """How many characters of these need keys that the layout has not."""
    return sum(keymap.stroke(keysym) is None or keymap.is_lent(keysym) for keysym in dict.fromkeys(keysyms))


def _next_batch(keymap: Keymap, keysyms: list[int]) -> list[int]:
    """As many as spare keys suffice for."""
    needed: set[int] = set()
    for index, keysym in enumerate(keysyms[:BATCH]):
        if keymap.stroke(keysym) is None or keymap.is_lent(keysym):
            needed.add(keysym)
        if len(needed) > keymap.capacity:
            if index == 0:
                raise ToolFailure("The keyboard layout leaves no key free for other characters.")
            return keysyms[:index]
    return keysyms[:BATCH]


def _press(connection: XConnection, keymap: Keymap, strokes: list[KeyStroke], times: int) -> None:
    codes = [stroke.code for stroke in strokes]
    if strokes[-1].shift:
        codes.insert(0, modifier_strokes(keymap))
    for _ in range(times):
        for code in codes:
            _key(connection, PRESS, code)
        for code in reversed(codes):
            _key(connection, RELEASE, code)
    connection.sync()


def _stroke(keymap: Keymap, keysym: int) -> KeyStroke:
    found = keymap.stroke(keysym)
    if found is None:
        raise ToolFailure(f"No key produces the keysym {keysym:#x}.")
    return found


def _key(connection: XConnection, kind: int, code: int) -> None:
    connection.extension(xcffib.xtest).FakeInput(kind, code, 0, connection.root, 0, 0, 0)
