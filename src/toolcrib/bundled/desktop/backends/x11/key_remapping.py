"""Lends keys to characters that the layout has no key for, and gives them back. Decides which keys may be
borrowed (multimedia keys, F13 and up) and which never (space, Enter, power off).

What a key carried before is written to a property of the root window with the window of its owner, before the
key changes, so that those of a crashed process are given back by the next one. If the layout has no empty
key, one that is rarely used is chosen. A program may still act on what it did before, so keys that matter are
never chosen, and neither are those that a program listens to whichever window is active.

The core protocol describes only some rows of the keyboard mapping exactly: those with two levels that are the
same in every layout. Others, such as F1 with its five levels, would change if they were written back as they
were read, so no request covers them.
"""

from __future__ import annotations

import functools
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import xcffib
from xcffib.xproto import Atom, GrabMode, ModMask, PropMode, WindowClass

from toolcrib.bundled.desktop.backends.x11.connection import XConnection, grabbed
from toolcrib.bundled.desktop.backends.x11.keysyms import ONLY_MODIFY, text_of

LEVELS = 2
Rows = dict[int, list[int]]


def read_mapping(connection: XConnection) -> tuple[bytes, int]:
    """The keysyms of all key codes, and how many there are for each."""
    setup = connection.raw.setup
    reply = connection.core.GetKeyboardMapping(
        setup.min_keycode, setup.max_keycode - setup.min_keycode + 1
    ).reply()
    return bytes(reply.keysyms.buf()), reply.keysyms_per_keycode


def rows_of(connection: XConnection, mapping: bytes, width: int) -> Rows:
    keysyms = list(memoryview(mapping).cast("I"))
    lowest = connection.raw.setup.min_keycode
    return {lowest + at // width: keysyms[at : at + width] for at in range(0, len(keysyms), width)}


def read_rows(connection: XConnection) -> Rows:
    """The keysyms of each key code."""
    return rows_of(connection, *read_mapping(connection))


def is_exact(row: list[int]) -> bool:
    """Whether the row can be written and is then as before."""
    pair = row[:LEVELS]
    return row[LEVELS : 2 * LEVELS] in (pair, []) and set(row[2 * LEVELS :]) <= {*pair, 0}


def row_with(pair: Iterable[int], width: int) -> list[int]:
    """The row of a key that types these, without and with Shift, in every layout."""
    both = [*pair] * 2
    return [*both, *(0,) * (width - len(both))][:width]


def write_rows(connection: XConnection, rows: Rows, codes: Iterable[int]) -> None:
    """With as few requests as possible: each makes every program read the keyboard mapping again."""
    for first, last in _runs(rows, sorted(codes)):
        width = len(rows[first])
        block = [row_with(rows[code][:LEVELS], width) for code in range(first, last + 1)]
        keysyms = [keysym for row in block for keysym in row]
        connection.core.ChangeKeyboardMapping(len(block), first, width, keysyms)


def _runs(rows: Rows, codes: list[int]) -> Iterator[tuple[int, int]]:
    """Ranges from the first to the last code that hold these, and other keys only if those stay exact."""
    while codes:
        first = last = codes.pop(0)
        while codes and all(is_exact(rows[code]) for code in range(last + 1, codes[0])):
            last = codes.pop(0)
        yield first, last


LAUNCHERS = range(0x1008FF40, 0x1008FF50)
"""XF86Launch0 to XF86LaunchF: programs that have the focus do not react to them."""
MULTIMEDIA = (range(0x1008FF00, 0x10090000), range(0x10081000, 0x10082000))
"""XF86AudioMute and the like; not the actions of the X server itself, such as XF86Switch_VT_1."""
FURTHER_FUNCTION_KEYS = range(0xFFCA, 0xFFE1)
"""F13 to F35."""
NEEDED = {0x20, 0xFF08, 0xFF09, 0xFF0D, 0xFF1B, *range(0xFF50, 0xFF59), 0xFF63, 0xFF8D, 0xFFFF}
"""Space, BackSpace, Tab, Return, Escape, arrows and other keys that move, Insert, KP_Enter, Delete."""
CONSEQUENTIAL = (
    *("PowerOff", "PowerDown", "Sleep", "Suspend", "Hibernate", "Standby", "WakeUp", "LogOff"),
    *("ScreenSaver", "Screensaver", "DisplayOff", "Sos", "WLAN", "WWAN", "UWB", "Bluetooth", "RFKill"),
    *("Back", "Forward", "Refresh", "Reload", "Exit", "Close", "Clear", "Eject", "Q"),
    *("Cut", "Paste", "Save", "Send", "Reply", "MailForward", "PickupPhone", "HangupPhone"),
)
"""Multimedia keys that do something that may be hard to undo."""
XI2_VERSION = (2, 0)
XI2_ANY_MODIFIER = 1 << 31


def borrowable(rows: Rows) -> list[int]:
    """The codes of keys that are used least first: multimedia keys, F13 and up, then duplicates of others."""
    counts = Counter(keysym for row in rows.values() for keysym in set(row))
    ranked: list[tuple[int, int]] = []
    for code, row in rows.items():
        keysyms = {keysym for keysym in row if keysym}
        if not keysyms or not is_exact(row) or any(map(_matters, keysyms)):
            continue
        rank = _rank(keysyms)
        if rank is None and all(counts[keysym] > 1 for keysym in keysyms):
            rank = 3
            counts.subtract(keysyms)
        if rank is not None:
            ranked.append((rank, code))
    return [code for _, code in sorted(ranked)]


def _matters(keysym: int) -> bool:
    return (
        keysym in NEEDED or keysym in ONLY_MODIFY or keysym in _consequential() or text_of(keysym).isalnum()
    )


@functools.cache
def _consequential() -> set[int]:
    from xcffib import xf86keysym

    return {getattr(xf86keysym, f"XF86XK_{name}") for name in CONSEQUENTIAL}


def _rank(keysyms: set[int]) -> int | None:
    if all(keysym in LAUNCHERS for keysym in keysyms):
        return 0
    if all(any(keysym in span for span in MULTIMEDIA) for keysym in keysyms):
        return 1
    return 2 if all(keysym in FURTHER_FUNCTION_KEYS for keysym in keysyms) else None


def pressed_keys(connection: XConnection) -> set[int]:
    pressed = bytes(connection.core.QueryKeymap().reply().keys)
    return {code for code in range(8 * len(pressed)) if pressed[code // 8] & (1 << code % 8)}


def modifier_keys(connection: XConnection) -> set[int]:
    return set(connection.core.GetModifierMapping().reply().keycodes) - {0}


def unused(connection: XConnection, rows: Rows) -> Iterator[int]:
    """Those of the borrowable keys that are not pressed and that no program has grabbed."""
    excluded = pressed_keys(connection) | modifier_keys(connection)
    for code in borrowable(rows):
        if code not in excluded and not _is_grabbed(connection, code):
            yield code


def _is_grabbed(connection: XConnection, code: int) -> bool:
    """Whether a program gets this key whichever window is active; the server refuses it to others then."""
    try:
        connection.core.GrabKey(
            False, connection.root, ModMask.Any, code, GrabMode.Async, GrabMode.Async, is_checked=True
        ).check()
    except xcffib.Error:
        return True
    connection.core.UngrabKey(code, connection.root, ModMask.Any)
    return _is_grabbed_by_xi2(connection, code)


def _is_grabbed_by_xi2(connection: XConnection, code: int) -> bool:
    """The same through the second version of the input extension, which GNOME uses."""
    import xcffib.xinput
    from xcffib.xinput import Device, GrabMode22, GrabType

    modifiers = [XI2_ANY_MODIFIER]
    try:
        extension = connection.extension(xcffib.xinput)
        extension.XIQueryVersion(*XI2_VERSION).reply()
        how = (GrabType.Keycode, GrabMode22.Async, GrabMode22.Async, False)
        asked = extension.XIPassiveGrabDevice(
            0, connection.root, 0, code, Device.All, 1, 0, *how, [], modifiers
        )
        refused = bool(list(asked.reply().modifiers))
    except (xcffib.XcffibException, KeyError):
        return False
    if not refused:
        extension.XIPassiveUngrabDevice(connection.root, code, Device.All, 1, GrabType.Keycode, modifiers)
    return refused


PROPERTY = "_TOOLCRIB_LENT_KEYS"
_RECORD = struct.Struct("=5I")
EMPTY = (0, 0)


@dataclass(frozen=True, slots=True)
class LentKey:
    owner: int
    code: int
    put: int
    """The keysym that it types without Shift since we changed it; 0 if we have not."""
    before: tuple[int, int] = EMPTY
    """What it typed, without and with Shift."""

    @property
    def is_borrowed(self) -> bool:
        """Whether the layout uses it."""
        return self.before != EMPTY

    def is_ours(self, rows: Rows) -> bool:
        """Whether it is as we left it; another layout may be loaded by now."""
        row = rows.get(self.code, [])
        return row[:1] == [self.put] if self.put else tuple(row[:2]) == self.before


def new_owner(connection: XConnection) -> int:
    """A window that exists as long as this process uses the display."""
    owner: int = connection.raw.generate_id()
    depth, visual = 0, 0
    connection.core.CreateWindow(
        depth, owner, connection.root, 0, 0, 1, 1, 0, WindowClass.InputOnly, visual, 0, []
    )
    _store(connection, owner, struct.pack("=I", owner))
    return owner


def read_lent(connection: XConnection) -> list[LentKey]:
    """Of all processes."""
    numbers = connection.read_numbers(connection.root, PROPERTY)
    fields = (numbers[at : at + 5] for at in range(0, len(numbers) - 4, 5))
    return [LentKey(owner, code, put, (plain, shifted)) for owner, code, put, plain, shifted in fields]


def record(connection: XConnection, owner: int, lent: Iterable[LentKey]) -> None:
    """Replace what is written about the keys of this owner."""
    kept = [key for key in read_lent(connection) if key.owner != owner]
    _write(connection, [*kept, *lent])


def put_back(connection: XConnection, lent: Iterable[LentKey]) -> None:
    """Have those that are still ours type again what they did before."""
    mapping, width = read_mapping(connection)
    rows = rows_of(connection, mapping, width)
    ours = [key for key in lent if key.put and key.is_ours(rows)]
    for key in ours:
        rows[key.code] = row_with(key.before, width)
    write_rows(connection, rows, [key.code for key in ours])


def put_back_of_ended(connection: XConnection) -> None:
    """Give back the keys of processes that ended without doing so."""
    if not read_lent(connection):
        return
    with grabbed(connection):
        lent = read_lent(connection)
        living = {owner for owner in {key.owner for key in lent} if _is_living(connection, owner)}
        put_back(connection, _those(lent, lambda key: key.owner not in living))
        _write(connection, _those(lent, lambda key: key.owner in living))


def _those(lent: list[LentKey], wanted: Callable[[LentKey], bool]) -> list[LentKey]:
    return [key for key in lent if wanted(key)]


def _is_living(connection: XConnection, owner: int) -> bool:
    """Whether the owner's window is there, and not one of a later program with the same number."""
    return connection.read_numbers(owner, PROPERTY) == [owner]


def _write(connection: XConnection, lent: list[LentKey]) -> None:
    if lent:
        packed = (_RECORD.pack(key.owner, key.code, key.put, *key.before) for key in lent)
        _store(connection, connection.root, b"".join(packed))
    else:
        connection.core.DeleteProperty(connection.root, connection.atom(PROPERTY))


def _store(connection: XConnection, window: int, data: bytes) -> None:
    connection.core.ChangeProperty(
        PropMode.Replace, window, connection.atom(PROPERTY), Atom.CARDINAL, 32, len(data) // 4, data
    )
