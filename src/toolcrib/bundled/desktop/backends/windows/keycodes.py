"""Virtual keys of Windows, and the records that press them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from toolcrib.bundled.desktop.backends.chords import parse_chord
from toolcrib.bundled.desktop.backends.windows.structures import InputRecord, key_record
from toolcrib.serverkit.context import ToolFailure
from toolcrib.suggestions import did_you_mean

EXTENDED, KEY_UP, UNICODE = 0x1, 0x2, 0x4
SHIFT, CTRL, ALT = 0x10, 0x11, 0x12
KEYS = {
    "backspace": 0x08,
    "tab": 0x09,
    "enter": 0x0D,
    "shift": SHIFT,
    "ctrl": CTRL,
    "alt": ALT,
    "pause": 0x13,
    "capslock": 0x14,
    "escape": 0x1B,
    "space": 0x20,
    "pageup": 0x21,
    "pagedown": 0x22,
    "end": 0x23,
    "home": 0x24,
    "left": 0x25,
    "up": 0x26,
    "right": 0x27,
    "down": 0x28,
    "printscreen": 0x2C,
    "insert": 0x2D,
    "delete": 0x2E,
    "super": 0x5B,
    "menu": 0x5D,
    "numlock": 0x90,
    "scrolllock": 0x91,
    "altgr": 0xA5,
    **{f"f{number}": 0x6F + number for number in range(1, 25)},
}
EXTENDED_KEYS = {*range(0x21, 0x29), 0x2C, 0x2D, 0x2E, 0x5B, 0x5C, 0x5D, 0x90, 0xA3, 0xA5}
"""Keys that share a scan code with one of the number pad."""
CONTROLS = {"\n": "enter", "\r": "enter", "\t": "tab", "\b": "backspace"}
_MODIFIER_BITS = ((1, SHIFT), (2, CTRL), (4, ALT))
NO_KEY = -1
Scan = Callable[[int], int]
"""VkKeyScanW: the key of a character in the current layout, and its modifiers in the upper byte."""


def keys_of_chord(chord: str, scan: Scan) -> list[int]:
    """Virtual keys in the order in which they are pressed, with the modifiers that the layout needs."""
    found: list[int] = []
    for name in parse_chord(chord):
        found += [key for key in _keys(name, scan) if key not in found]
    return found


def records_of_keys(keys: Sequence[int], scan_code: Callable[[int], int]) -> list[InputRecord]:
    """All go down in order and come up in reverse."""
    downs = [_record(key, scan_code(key), 0) for key in keys]
    return [*downs, *(_record(key, scan_code(key), KEY_UP) for key in reversed(keys))]


def record_of_change(key: int, scan_code: Callable[[int], int], *, pressed: bool) -> InputRecord:
    return _record(key, scan_code(key), 0 if pressed else KEY_UP)


def records_of_character(character: str) -> list[InputRecord]:
    """As text, independent of the layout: a pair for each UTF-16 unit."""
    if not character.isprintable() and not character.isspace():
        raise ToolFailure(
            f"The character U+{ord(character):04X} cannot be typed.", "Remove it from the text."
        )
    data = character.encode("utf-16-le", "surrogatepass")
    units = [int.from_bytes(data[index : index + 2], "little") for index in range(0, len(data), 2)]
    return [key_record(0, unit, UNICODE | flag) for unit in units for flag in (0, KEY_UP)]


def _record(key: int, scan_code: int, flags: int) -> InputRecord:
    return key_record(key, scan_code, flags | (EXTENDED if key in EXTENDED_KEYS else 0))


def _keys(name: str, scan: Scan) -> list[int]:
    if name in KEYS:
        return [KEYS[name]]
    if len(name) != 1:
        raise ToolFailure(f"There is no key {name!r}.", did_you_mean(name, list(KEYS)))
    found = scan(ord(name)) if ord(name) < 1 << 16 else NO_KEY
    if found & 0xFFFF == NO_KEY & 0xFFFF:
        raise ToolFailure(f"No key of this keyboard layout types {name!r}.", "Type it with type_text.")
    modifiers = [key for bit, key in _MODIFIER_BITS if found >> 8 & bit]
    return [*modifiers, found & 0xFF]
