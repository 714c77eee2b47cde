"""X's numbers for characters and keys, and what a key types: other names of keys (`enter`, `esc`), accents,
and the error for an unknown key.

The older keysyms of a script have the codes of an 8-bit character set of their time, with the number of the
set in front.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from toolcrib.bundled.desktop.keys import split_chord
from toolcrib.serverkit.context import ToolFailure
from toolcrib.suggestions import did_you_mean

SHIFT, LOCK, CONTROL, ALT, NUM_LOCK, SUPER, LEVEL_3 = 1, 2, 4, 8, 16, 64, 128
_MODIFIERS = {CONTROL: "ctrl", ALT: "alt", SUPER: "super"}
_CHARACTER_SETS = {
    0x01: "iso8859-2",
    0x02: "iso8859-3",
    0x03: "iso8859-4",
    0x05: "iso8859-6",
    0x06: "koi8-r",
    0x07: "iso8859-7",
    0x0C: "iso8859-8",
    0x0D: "cp874",
    0x13: "iso8859-15",
}
_ACCENTS = {
    0xFE50: "\u0300",
    0xFE51: "\u0301",
    0xFE52: "\u0302",
    0xFE53: "\u0303",
    0xFE54: "\u0304",
    0xFE55: "\u0306",
    0xFE56: "\u0307",
    0xFE57: "\u0308",
    0xFE58: "\u030a",
    0xFE59: "\u030b",
    0xFE5A: "\u030c",
    0xFE5B: "\u0327",
    0xFE5C: "\u0328",
}
"""Dead keys as combining characters."""
EURO = 0x20AC
KEYPAD = range(0xFF80, 0xFFBE)
KEYPAD_TEXTS = range(0xFFAA, 0xFFBA)
ONLY_MODIFY = {*range(0xFFE1, 0xFFEF), *range(0xFE01, 0xFE14), 0xFF7F, 0xFF7E, 0xFF20}


def keysym_of(row: Sequence[int], state: int) -> int:
    """The keysym of a key with these columns of the keyboard mapping; 0 if it has none."""
    columns = [*row, *(0,) * (8 - len(row))]
    group = 1 if state >> 13 & 3 and any(columns[2:4]) else 0
    first = 4 + 2 * group if state & LEVEL_3 and any(columns[4 + 2 * group : 6 + 2 * group]) else 2 * group
    plain, shifted = columns[first], columns[first + 1] or columns[first]
    if shifted in KEYPAD and plain in KEYPAD:
        return shifted if bool(state & NUM_LOCK) != bool(state & SHIFT) else plain
    chosen = shifted if state & SHIFT else plain
    text = text_of(chosen)
    if state & LOCK and text.isalpha():
        return _swapped(chosen, text)
    return chosen


def _swapped(keysym: int, text: str) -> int:
    other = text.swapcase()
    if len(other) != 1:
        return keysym
    return ord(other) if ord(other) < 0x100 else UNICODE | ord(other)


def text_of(keysym: int) -> str:
    """The character that it types; empty for other keys."""
    if 0x20 <= keysym < 0x7F or 0xA0 <= keysym < 0x100:
        return chr(keysym)
    if keysym & 0xFF000000 == UNICODE:
        return chr(keysym & 0xFFFFFF) if keysym & 0xFFFFFF < 0x110000 else ""
    if keysym in _ACCENTS:
        return _ACCENTS[keysym]
    if keysym == EURO:
        return "€"
    if keysym in KEYPAD_TEXTS:
        return chr(keysym - 0xFF80)
    return _old_text(keysym)


def _old_text(keysym: int) -> str:
    name = _CHARACTER_SETS.get(keysym >> 8)
    if name is None:
        return ""
    text = bytes([keysym & 0xFF]).decode(name, "ignore")
    return text if text.isprintable() else ""


def name_of(keysym: int) -> str:
    """A name that `press` understands; empty for a key that only modifies others."""
    if keysym in ONLY_MODIFY:
        return ""
    return _names().get(keysym, "")


def modifiers_of(state: int, text: str) -> tuple[str, ...]:
    """Shift alone has had its effect already if the key types something."""
    held = tuple(name for mask, name in _MODIFIERS.items() if state & mask)
    return (*held, "shift") if state & SHIFT and (held or not text) else held


@functools.cache
def _names() -> dict[int, str]:
    found: dict[int, str] = {}
    for name, keysym in known_keysyms().items():
        found.setdefault(keysym, name)
    return found


UNICODE = 0x1000000
_CONTROLS = {"\n": 0xFF0D, "\r": 0xFF0D, "\t": 0xFF09, "\b": 0xFF08}
_ALIASES = {
    "ctrl": "Control_L",
    "control": "Control_L",
    "shift": "Shift_L",
    "alt": "Alt_L",
    "option": "Alt_L",
    "super": "Super_L",
    "cmd": "Super_L",
    "command": "Super_L",
    "win": "Super_L",
    "meta": "Super_L",
    "altgr": "ISO_Level3_Shift",
    "enter": "Return",
    "esc": "Escape",
    "backspace": "BackSpace",
    "del": "Delete",
    "ins": "Insert",
    "pageup": "Prior",
    "page_up": "Prior",
    "pagedown": "Next",
    "page_down": "Next",
    "space": "space",
    "plus": "plus",
    "minus": "minus",
    "printscreen": "Print",
    "capslock": "Caps_Lock",
}


def keysym_of_character(character: str) -> int:
    if character in _CONTROLS:
        return _CONTROLS[character]
    code = ord(character)
    if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000:
        raise ToolFailure(f"The character U+{code:04X} cannot be typed.", "Remove it from the text.")
    return code if code < 0x100 else UNICODE | code


def keysym_of_key(name: str) -> int:
    """The keysym of a key such as `enter`, `F5`, `a` or `XF86AudioMute`; raises `ToolFailure`."""
    if len(name) == 1:
        return keysym_of_character(name)
    known = known_keysyms()
    found = known.get(_ALIASES.get(name.lower(), name).lower())
    if found is None:
        choices = [*_ALIASES, "up", "down", "left", "right", "home", "end", "tab", "delete", "f1"]
        raise ToolFailure(f"There is no key {name!r}.", did_you_mean(name, choices))
    return found


def keysyms_of_chord(chord: str) -> list[int]:
    """Raises `ToolFailure` if it is not a combination of keys."""
    names = split_chord(chord)
    if not 0 < len(names) <= 6:
        raise ToolFailure(
            f"{chord!r} is not a key or a combination of keys.", "Such as enter or ctrl+shift+s."
        )
    return [keysym_of_key(name.lower() if len(names) > 1 and len(name) == 1 else name) for name in names]


@functools.cache
def known_keysyms() -> dict[str, int]:
    """By their lower-case names."""
    from xcffib import keysymdef, xf86keysym

    found: dict[str, int] = {}
    for module, prefix in ((xf86keysym, ""), (keysymdef, "XK_")):
        for name, value in vars(module).items():
            if isinstance(value, int) and name.startswith(prefix):
                found[name.removeprefix(prefix).removeprefix("XF86XK_").lower()] = value
    return found
