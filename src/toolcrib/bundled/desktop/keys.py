"""Keys and their modifiers as one combination, such as `ctrl+shift+s`: other names of modifiers (`cmd`,
`option`), and the error for the fn key. Names of other keys are in `backends/x11/keysyms.py`."""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.bundled.desktop.failures import InvalidFormat, NotSupported
from toolcrib.bundled.desktop.records import read_enum

MODIFIERS = {
    "control": "ctrl",
    "ctrl": "ctrl",
    "shift": "shift",
    "alt": "alt",
    "option": "alt",
    "command": "super",
    "cmd": "super",
    "super": "super",
    "meta": "super",
    "win": "super",
    "altgr": "altgr",
    "caps_lock": "capslock",
    "function": "fn",
    "fn": "fn",
}
MAX_MODIFIERS = 5


def read_modifiers(modifiers: Sequence[str] | None) -> list[str]:
    """The keys of modifiers, each once; raises `ToolFailure` for an unknown one."""
    given = list(modifiers or ())
    if len(given) > MAX_MODIFIERS:
        raise InvalidFormat(f"At most {MAX_MODIFIERS} modifiers can be held.")
    found = [read_enum("modifiers", modifier, "MODIFIER", MODIFIERS, "") for modifier in given]
    if "fn" in found:
        raise NotSupported("The fn key is handled by the keyboard itself and cannot be pressed.")
    return [modifier for modifier in dict.fromkeys(found) if modifier]


def split_chord(chord: str) -> list[str]:
    """The keys of `ctrl+shift+s`; a last `+` is the plus key itself. Empty if a key is missing."""
    parts = chord.strip().split("+")
    if len(parts) > 1 and not parts[-1]:
        parts = [*(part for part in parts if part), "plus"]
    names = [part.strip() for part in parts]
    return names if all(names) else []


def chord_of(key: str, modifiers: Sequence[str] | None) -> str:
    """The key, which may be a combination itself, with its modifiers in front."""
    return "+".join([*read_modifiers(modifiers), key.strip()])
