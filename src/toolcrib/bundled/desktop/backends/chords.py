"""Combinations of keys such as `ctrl+shift+s`, as the names of their keys."""

from __future__ import annotations

from toolcrib.serverkit.context import ToolFailure

MOST_KEYS = 6
_ALIASES = {
    "control": "ctrl",
    "option": "alt",
    "cmd": "super",
    "command": "super",
    "win": "super",
    "meta": "super",
    "return": "enter",
    "esc": "escape",
    "del": "delete",
    "ins": "insert",
    "page_up": "pageup",
    "page_down": "pagedown",
    "prior": "pageup",
    "next": "pagedown",
    "plus": "+",
    "minus": "-",
    "print": "printscreen",
    "caps_lock": "capslock",
    "function": "fn",
}
MODIFIERS = ("ctrl", "shift", "alt", "super", "altgr", "fn")


def parse_chord(chord: str) -> list[str]:
    """The keys in the order in which they are pressed; a last `+` is the plus key itself.

    Names are in lower case; a single character alone keeps its case, because `A` is typed with Shift.
    """
    parts = chord.strip().split("+") if chord != " " else [chord]
    if len(parts) > 1 and not parts[-1]:
        parts = [*(part for part in parts if part), "plus"]
    names = [part.strip() or part for part in parts]
    if not all(names) or len(names) > MOST_KEYS:
        raise ToolFailure(
            f"{chord!r} is not a key or a combination of keys.", "Such as enter or ctrl+shift+s."
        )
    return [_name(name, alone=len(names) == 1) for name in names]


def _name(name: str, *, alone: bool) -> str:
    if len(name) == 1:
        return name if alone else name.lower()
    folded = name.lower()
    return _ALIASES.get(folded, folded)
