"""Finds the key for a character in the current layout, and lends unused keys to characters that have none.

A key code that the layout leaves empty can carry two characters (plain and with Shift). All of them are
changed in one request: each request makes every program read the keymap again. The request also covers the
keys between them, which are read while no other program can switch the layout. The codes in use are written
to a property of the root window with the window of their owner, so that those of a crashed process are
taken back.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

import xcffib
import xcffib.xkb
from xcffib.xproto import Atom, PropMode, WindowClass

from toolcrib.bundled.desktop.backends.x11.connection import XConnection, grabbed
from toolcrib.bundled.desktop.backends.x11.keysyms import keysym_of_key
from toolcrib.serverkit.context import ToolFailure

PROPERTY = "_TOOLCRIB_SPARE_KEYS"
CORE_KEYBOARD = 0x100
LEVELS = 2
SHIFT_LEVEL = 1
LAST_LETTER = 94
"""The highest code of a key with letters or signs on usual keyboards; spare keys above it are preferred."""
FEWEST = 8
"""Spare keys that suffice to prefer those above the letters."""


@dataclass(frozen=True, slots=True)
class KeyStroke:
    code: int
    shift: bool


class Keymap:
    """The layout as it is now, with the keys that we lend."""

    def __init__(self, connection: XConnection) -> None:
        setup = connection.raw.setup
        self._lowest, self._highest = setup.min_keycode, setup.max_keycode
        self._lent: OrderedDict[int, KeyStroke] = OrderedDict()
        """Characters on spare keys, the least recently used first."""
        self._layout: dict[int, KeyStroke] = {}
        self._rows: dict[int, list[int]] = {}
        self._spare: list[int] = []
        self._width = 0
        self._seen: tuple[bytes, int] = (b"", -1)
        self._owner: int = connection.raw.generate_id()
        depth, visual = 0, 0
        connection.core.CreateWindow(
            depth, self._owner, connection.root, 0, 0, 1, 1, 0, WindowClass.InputOnly, visual, 0, []
        )
        self._take_back(connection)

    def refresh(self, connection: XConnection) -> None:
        """Read the layout again; it may have been switched."""
        mapping, group = self._ask(connection), _group(connection)
        if (mapping, group) == self._seen:
            return
        rows = self._parse(mapping)
        if not self._keeps(rows):
            self._lent.clear()  # a new layout was loaded
        ours = {stroke.code for stroke in self._lent.values()}
        self._rows, self._seen = rows, (mapping, group)
        self._spare = _preferred([code for code, row in rows.items() if code in ours or not any(row)])
        self._layout = _strokes(rows, set(self._spare), group)

    @property
    def capacity(self) -> int:
        """How many characters spare keys can carry at once."""
        return len(self._spare) * LEVELS

    def stroke(self, keysym: int) -> KeyStroke | None:
        found = self._layout.get(keysym) or self._lent.get(keysym)
        if found is None and keysym & 0xFF000000 == 0x01000000:
            return None
        return found

    def missing(self, keysyms: Iterable[int]) -> list[int]:
        """Those that no key produces yet, without duplicates."""
        return [keysym for keysym in dict.fromkeys(keysyms) if self.stroke(keysym) is None]

    def is_lent(self, keysym: int) -> bool:
        return keysym in self._lent and keysym not in self._layout

    def must_reuse(self, keysyms: list[int]) -> bool:
        """Whether lending to these takes keys from other characters."""
        return len(keysyms) > self.capacity - len(self._lent)

    def lend(self, connection: XConnection, keysyms: list[int], keep: set[int]) -> bool:
        """Put characters on spare keys with one request; `keep` stay where they are.

        False if the layout was switched meanwhile: read it again, and start over.
        """
        if not self._spare:
            raise ToolFailure("The keyboard layout leaves no key free for other characters.")
        free, before = self._free_places(), self._lent.copy()
        for keysym in keysyms:
            if not free:
                free.append(self._lent.pop(next(old for old in self._lent if old not in keep)))
            self._lent[keysym] = free.pop(0)
        with grabbed(connection):
            if self._ask(connection) != self._seen[0]:
                self._lent = before
                return False
            self._fill()
            self._send(connection)
        return True

    def use(self, keysym: int) -> None:
        """Mark as recently used."""
        if keysym in self._lent:
            self._lent.move_to_end(keysym)

    def clear(self, connection: XConnection) -> None:
        """Give all spare keys back."""
        with grabbed(connection):
            lent, self._lent = self._lent, OrderedDict()
            self._empty(connection, {stroke.code: keysym for keysym, stroke in lent.items()})
        connection.core.DeleteProperty(connection.root, connection.atom(PROPERTY))
        connection.core.DestroyWindow(self._owner)

    def _free_places(self) -> list[KeyStroke]:
        taken = set(self._lent.values())
        places = [KeyStroke(code, shift) for code in self._spare for shift in (False, True)]
        return [place for place in places if place not in taken]

    def _keeps(self, rows: dict[int, list[int]]) -> bool:
        """Whether our characters are still where we put them."""
        return all(rows[stroke.code][stroke.shift] == keysym for keysym, stroke in self._lent.items())

    def _ask(self, connection: XConnection) -> bytes:
        count = self._highest - self._lowest + 1
        reply = connection.core.GetKeyboardMapping(self._lowest, count).reply()
        self._width = reply.keysyms_per_keycode
        return bytes(reply.keysyms.buf())

    def _parse(self, mapping: bytes) -> dict[int, list[int]]:
        keysyms = list(memoryview(mapping).cast("I"))
        starts = range(0, len(keysyms), self._width)
        return {self._lowest + at // self._width: keysyms[at : at + self._width] for at in starts}

    def _fill(self) -> None:
        """Put the lent characters into the rows of the spare keys."""
        for code in self._spare:
            self._rows[code] = [0] * self._width
        for keysym, stroke in self._lent.items():
            for group in range(0, min(4, self._width), LEVELS):
                self._rows[stroke.code][group + stroke.shift] = keysym
        # A key with an empty plain level would have its Shift level ignored.
        for code in self._spare:
            row = self._rows[code]
            if row[1] and not row[0]:
                row[0] = row[2] = row[1]

    def _send(self, connection: XConnection) -> None:
        first, last = min(self._spare), max(self._spare)
        block = [keysym for code in range(first, last + 1) for keysym in self._rows[code]]
        connection.core.ChangeKeyboardMapping(last - first + 1, first, self._width, block)
        pairs = [number for keysym, stroke in self._lent.items() for number in (stroke.code, keysym)]
        _store(connection, [self._owner, *pairs])
        self._seen = (b"", -1)

    def _take_back(self, connection: XConnection) -> None:
        """Empty the keys of a process that ended without doing so."""
        stored = connection.read_numbers(connection.root, PROPERTY)
        if stored and not _exists(connection, stored[0]):
            with grabbed(connection):
                self._empty(connection, dict(zip(stored[1::2], stored[2::2], strict=False)))
        self.refresh(connection)

    def _empty(self, connection: XConnection, lent: dict[int, int]) -> None:
        """Empty those of these keys that still carry the character; another layout may be loaded by now."""
        self._rows = self._parse(self._ask(connection))
        codes = [code for code, keysym in lent.items() if keysym in self._rows.get(code, ())]
        for code in codes:
            self._rows[code] = [0] * self._width
        if codes:
            self._spare = codes
            self._send(connection)


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


def _store(connection: XConnection, numbers: list[int]) -> None:
    data = struct.pack(f"={len(numbers)}I", *numbers)
    connection.core.ChangeProperty(
        PropMode.Replace, connection.root, connection.atom(PROPERTY), Atom.CARDINAL, 32, len(numbers), data
    )


def _exists(connection: XConnection, window: int) -> bool:
    try:
        connection.core.GetWindowAttributes(window).reply()
    except xcffib.Error:
        return False
    return True
