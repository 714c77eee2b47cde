"""Types text in any script and layout, and presses combinations of keys. Decides when typing stops because
the window lost the focus or does not respond, and how many keys are borrowed at once.

Finds the key for a character in the current layout, and lends keys to characters that have none. A key code
that the layout leaves empty can carry two characters (plain and with Shift), and keeps them until the display
is closed. If none is empty, keys that are rarely used are borrowed for the time of a call. All change
together: each request makes every program read the keymap again. The request also covers keys between them,
which are read while no other program can switch the layout.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import xcffib
import xcffib.xkb
import xcffib.xtest
from xcffib.xproto import KeyButMask

from toolcrib.bundled.desktop.backends.x11.connection import XConnection, grabbed
from toolcrib.bundled.desktop.backends.x11.key_remapping import (
    LEVELS,
    LentKey,
    Rows,
    new_owner,
    pressed_keys,
    put_back,
    put_back_of_ended,
    read_mapping,
    record,
    row_with,
    rows_of,
    unused,
    write_rows,
)
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

CORE_KEYBOARD = 0x100
SHIFT_LEVEL = 1
LAST_LETTER = 94
"""The highest code of a key with letters or signs on usual keyboards; spare keys above it are preferred."""
FEWEST = 8
"""Spare keys that suffice to prefer those above the letters."""
MOST_BORROWED = 8
"""Keys that are borrowed at once; longer texts are typed in parts."""

PRESS, RELEASE = 2, 3
BATCH = 200
"""Characters between two looks at whether the window is still active and nobody stopped us."""
WITHOUT_PING = 0.15
"""Seconds at least for a window that cannot say when it has processed its keys."""
PATIENCE = 10.0
"""Seconds for a window that can."""
LAYOUT_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class KeyStroke:
    code: int
    shift: bool


class _Seen(NamedTuple):
    """What was there when the layout was read."""

    mapping: bytes
    group: int
    pressed: frozenset[int]


NOTHING = _Seen(b"", -1, frozenset())


class Keymap:
    """The layout as it is now, with the keys that we lend."""

    def __init__(self, connection: XConnection) -> None:
        self._lent: OrderedDict[int, KeyStroke] = OrderedDict()
        """Characters on lent keys, the least recently used first."""
        self._keys: dict[int, LentKey] = {}
        """The keys that we changed or are about to change, by their codes."""
        self._layout: dict[int, KeyStroke] = {}
        self._rows: Rows = {}
        self._spare: list[int] = []
        """The codes of keys that can get characters of ours: not those that are pressed."""
        self._width = 0
        self._seen = NOTHING
        put_back_of_ended(connection)
        self._owner = new_owner(connection)

    def refresh(self, connection: XConnection) -> None:
        """Read the layout again; it may have been switched."""
        seen = _Seen(self._ask(connection), _group(connection), frozenset(pressed_keys(connection)))
        if seen == self._seen:
            return
        self._rows, self._seen = rows_of(connection, seen.mapping, self._width), seen
        if not self._keeps(self._rows):
            self._lent.clear()  # a new layout was loaded
        self._keys = {code: key for code, key in self._keys.items() if key.is_ours(self._rows)}
        self._divide()

    @property
    def capacity(self) -> int:
        """How many characters spare keys can carry at once."""
        return len(self._spare) * LEVELS

    def stroke(self, keysym: int) -> KeyStroke | None:
        return self._layout.get(keysym) or self._lent.get(keysym)

    def missing(self, keysyms: Iterable[int]) -> list[int]:
        """Those that no key produces yet, without duplicates."""
        return [keysym for keysym in dict.fromkeys(keysyms) if self.stroke(keysym) is None]

    def is_lent(self, keysym: int) -> bool:
        return keysym in self._lent and keysym not in self._layout

    def must_reuse(self, keysyms: list[int]) -> bool:
        """Whether lending to these takes keys from other characters."""
        return len(keysyms) > len(self._free_places())

    def borrow(self, connection: XConnection, count: int) -> None:
        """Have keys for this many characters, or the most that can be had, if the layout has no empty one."""
        borrowed = [code for code in self._spare if code in self._keys and self._keys[code].is_borrowed]
        more = min(-(-count // LEVELS), MOST_BORROWED) - len(borrowed)
        if len(borrowed) < len(self._spare) or more <= 0:
            return
        rows = {code: row for code, row in self._rows.items() if code not in self._keys}
        with grabbed(connection):
            for code in islice(unused(connection, rows), more):
                plain, shifted = rows[code][:LEVELS]
                self._keys[code] = LentKey(self._owner, code, 0, (plain, shifted))
        self._divide()

    def lend(self, connection: XConnection, keysyms: list[int], keep: set[int]) -> bool:
        """Put characters on spare keys together; `keep` stay where they are.

        False if the layout was switched meanwhile or a key was pressed: read it again, and start over.
        """
        if not self._spare:
            raise ToolFailure("The keyboard layout leaves no key free for other characters.")
        free, before = self._free_places(), self._lent.copy()
        for keysym in keysyms:
            if not free:
                free.append(self._lent.pop(next(old for old in self._lent if self._can_go(old, keep))))
            self._lent[keysym] = free.pop(0)
        codes = {self._lent[keysym].code for keysym in keysyms}
        with grabbed(connection):
            if self._ask(connection) != self._seen.mapping or codes & pressed_keys(connection):
                self._lent = before
                self._keys = {code: key for code, key in self._keys.items() if key.put}
                self._seen = NOTHING
                return False
            self._send(connection)
        return True

    def use(self, keysym: int) -> None:
        """Mark as recently used."""
        if keysym in self._lent:
            self._lent.move_to_end(keysym)

    @property
    def has_borrowed(self) -> bool:
        return any(key.is_borrowed for key in self._keys.values())

    def give_back(self, connection: XConnection) -> None:
        """Have borrowed keys type again what they did; those that are pressed keep their characters."""
        if not self.has_borrowed:
            return
        with grabbed(connection):
            pressed = pressed_keys(connection)
            borrowed = [key for key in self._keys.values() if key.is_borrowed]
            self._put_back(connection, [key for key in borrowed if key.code not in pressed])

    def clear(self, connection: XConnection) -> None:
        """Give all keys back."""
        with grabbed(connection):
            self._put_back(connection, list(self._keys.values()))
        connection.core.DestroyWindow(self._owner)

    def _put_back(self, connection: XConnection, keys: list[LentKey]) -> None:
        put_back(connection, keys)
        for key in keys:
            del self._keys[key.code]
        self._lent = OrderedDict(
            (keysym, stroke) for keysym, stroke in self._lent.items() if stroke.code in self._keys
        )
        record(connection, self._owner, self._keys.values())
        self._seen = NOTHING

    def _divide(self) -> None:
        """Tell the keys that can carry our characters from those that the layout uses."""
        unused = [code for code, row in self._rows.items() if code in self._keys or not any(row)]
        self._spare = _preferred([code for code in unused if code not in self._seen.pressed])
        self._layout = _strokes(self._rows, set(unused), self._seen.group)

    def _can_go(self, keysym: int, keep: set[int]) -> bool:
        return keysym not in keep and self._lent[keysym].code in self._spare

    def _free_places(self) -> list[KeyStroke]:
        taken = set(self._lent.values())
        places = [KeyStroke(code, shift) for code in self._spare for shift in (False, True)]
        return [place for place in places if place not in taken]

    def _keeps(self, rows: Rows) -> bool:
        """Whether our characters are still where we put them."""
        return all(rows[stroke.code][stroke.shift] == keysym for keysym, stroke in self._lent.items())

    def _ask(self, connection: XConnection) -> bytes:
        mapping, self._width = read_mapping(connection)
        return mapping

    def _send(self, connection: XConnection) -> None:
        """Put the lent characters on their keys."""
        carried = self._carried()
        changed = [code for code, pair in carried.items() if self._rows[code][:LEVELS] != pair]
        for code, pair in carried.items():
            key = self._keys.get(code, LentKey(self._owner, code, 0))
            self._keys[code] = replace(key, put=pair[0])
            self._rows[code] = row_with(pair, self._width)
        record(connection, self._owner, self._keys.values())
        write_rows(connection, self._rows, changed)
        self._seen = NOTHING

    def _carried(self) -> dict[int, list[int]]:
        """What each key with characters of ours types, without and with Shift.

        The same if it has only one: the server would add the other case of a letter that stands alone.
        """
        pairs: dict[int, list[int]] = {}
        for keysym, stroke in self._lent.items():
            pairs.setdefault(stroke.code, [keysym] * LEVELS)[stroke.shift] = keysym
        return pairs


def modifier_strokes(keymap: Keymap) -> int:
    """The key code of Shift."""
    stroke = keymap.stroke(keysym_of_key("shift"))
    if stroke is None:
        raise ToolFailure("The keyboard layout has no Shift key.")
    return stroke.code


def _preferred(spare: list[int]) -> list[int]:
    """Those above the letters if they suffice, so that no key with letters is between them."""
    above = [code for code in spare if code > LAST_LETTER]
    return above if len(above) >= FEWEST else spare


def _strokes(rows: dict[int, list[int]], spare: set[int], group: int) -> dict[int, KeyStroke]:
    found: dict[int, KeyStroke] = {}
    for code, row in rows.items():
        if code in spare:
            continue
        # Columns: two levels for each of two groups, then further levels, which are reached by other means.
        at = (
            group * LEVELS
            if len(row) > group * LEVELS + 1 and any(row[group * LEVELS : group * LEVELS + 2])
            else 0
        )
        for level in (0, SHIFT_LEVEL):
            if row[at + level]:
                found.setdefault(row[at + level], KeyStroke(code, level == SHIFT_LEVEL))
    return found


def _group(connection: XConnection) -> int:
    """The layout that is active among those that the user switches between."""
    try:
        extension = connection.extension(xcffib.xkb)
        extension.UseExtension(1, 0).reply()
        return min(1, int(extension.GetState(CORE_KEYBOARD).reply().group))
    except (xcffib.XcffibException, KeyError):
        return 0


class X11Keyboard:
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

    def __init__(self, connection: XConnection, keyboard: X11Keyboard, keymap: Keymap) -> None:
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
