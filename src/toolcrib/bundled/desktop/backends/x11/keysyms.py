"""X's numbers for characters and keys."""

from __future__ import annotations

import functools

from toolcrib.serverkit.context import ToolFailure
from toolcrib.suggestions import did_you_mean

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
    """`ctrl+shift+s` as keysyms; a last `+` is the plus key itself."""
    parts = chord.strip().split("+")
    if len(parts) > 1 and not parts[-1]:
        parts = [*(part for part in parts if part), "plus"]
    names = [part.strip() for part in parts]
    if not all(names) or len(names) > 6:
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
