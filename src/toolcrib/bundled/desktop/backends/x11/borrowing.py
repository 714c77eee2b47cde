"""Chooses keys that can carry other characters for a moment when the layout has no empty key.

A program may still act on what the key did before, so keys that matter are never chosen, and neither are
those that a program listens to whichever window is active.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator

import xcffib
from xcffib.xproto import GrabMode, ModMask

from toolcrib.bundled.desktop.backends.x11.connection import XConnection
from toolcrib.bundled.desktop.backends.x11.key_rows import Rows, is_exact
from toolcrib.bundled.desktop.backends.x11.key_texts import ONLY_MODIFY, text_of

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
    if all(any(keysym in each for each in MULTIMEDIA) for keysym in keysyms):
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
