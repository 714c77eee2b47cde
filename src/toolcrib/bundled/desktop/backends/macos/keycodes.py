"""Virtual key codes of a Mac keyboard, and the flags of its modifiers.

Codes name positions of the US layout. Text is typed without them; only shortcuts depend on the layout.
"""

from __future__ import annotations

from dataclasses import dataclass

from toolcrib.bundled.desktop.backends.chords import MODIFIERS, parse_chord
from toolcrib.serverkit.context import ToolFailure
from toolcrib.suggestions import did_you_mean

KEYS = {
    **dict(zip("asdfhgzxcv", range(0x00, 0x0A), strict=True)),
    **dict(zip("bqweryt123465=97-80]ou[ip", range(0x0B, 0x24), strict=True)),
    **dict(zip("lj'k;\\,/nm.", range(0x25, 0x30), strict=True)),
    "enter": 0x24,
    "tab": 0x30,
    "space": 0x31,
    " ": 0x31,
    "`": 0x32,
    "backspace": 0x33,
    "escape": 0x35,
    "delete": 0x75,
    "insert": 0x72,
    "home": 0x73,
    "pageup": 0x74,
    "end": 0x77,
    "pagedown": 0x79,
    "left": 0x7B,
    "right": 0x7C,
    "down": 0x7D,
    "up": 0x7E,
    "f1": 0x7A,
    "f2": 0x78,
    "f3": 0x63,
    "f4": 0x76,
    "f5": 0x60,
    "f6": 0x61,
    "f7": 0x62,
    "f8": 0x64,
    "f9": 0x65,
    "f10": 0x6D,
    "f11": 0x67,
    "f12": 0x6F,
    "f13": 0x69,
    "f14": 0x6B,
    "f15": 0x71,
    "f16": 0x6A,
    "f17": 0x40,
    "f18": 0x4F,
    "f19": 0x50,
    "f20": 0x5A,
    "capslock": 0x39,
}
SHIFTED = dict(zip('~!@#$%^&*()_+{}|:"<>?', "`1234567890-=[]\\;',./", strict=True))
MODIFIER_KEYS = {"super": 0x37, "shift": 0x38, "alt": 0x3A, "altgr": 0x3D, "ctrl": 0x3B, "fn": 0x3F}
FLAGS = {
    "shift": 1 << 17,
    "ctrl": 1 << 18,
    "alt": 1 << 19,
    "altgr": 1 << 19,
    "super": 1 << 20,
    "fn": 1 << 23,
}


@dataclass(frozen=True)
class KeyEvent:
    code: int
    pressed: bool
    flags: int


def events_of_chord(chord: str) -> list[KeyEvent]:
    """Modifiers go down first and come up last; each event carries the flags that are active with it."""
    *held, last = parse_chord(chord)
    unknown = [name for name in held if name not in MODIFIERS]
    if unknown:
        raise ToolFailure(
            f"{unknown[0]!r} is not a modifier key.", "Use ctrl, shift, alt, cmd or fn before the last key."
        )
    if last in MODIFIER_KEYS:
        held, last = [*held, last], ""
    elif last in SHIFTED or (len(last) == 1 and last.isupper()):
        held, last = [*held, *(() if "shift" in held else ("shift",))], SHIFTED.get(last, last.lower())
    return [*_pressed(held), *(_tapped(last, held) if last else ()), *_released(held)]


def event_of_key(key: str, pressed: bool, held: list[str]) -> KeyEvent:
    """One key alone, which goes down or comes up while the others are held."""
    (name,) = parse_chord(key)[-1:]
    flags = _flags([each for each in held if each in FLAGS and (pressed or each != name)])
    if name in MODIFIER_KEYS:
        return KeyEvent(MODIFIER_KEYS[name], pressed, flags)
    return KeyEvent(_code(name), pressed, flags)


def _pressed(held: list[str]) -> list[KeyEvent]:
    return [KeyEvent(MODIFIER_KEYS[name], True, _flags(held[: index + 1])) for index, name in enumerate(held)]


def _released(held: list[str]) -> list[KeyEvent]:
    places = reversed(range(len(held)))
    return [KeyEvent(MODIFIER_KEYS[held[index]], False, _flags(held[:index])) for index in places]


def _tapped(name: str, held: list[str]) -> list[KeyEvent]:
    return [KeyEvent(_code(name), pressed, _flags(held)) for pressed in (True, False)]


def _code(name: str) -> int:
    if name not in KEYS:
        hint = did_you_mean(name, [*KEYS, *MODIFIER_KEYS]) or "Type it with type_text."
        raise ToolFailure(f"There is no key {name!r}.", hint)
    return KEYS[name]


def _flags(held: list[str]) -> int:
    flags = 0
    for name in held:
        flags |= FLAGS[name]
    return flags
