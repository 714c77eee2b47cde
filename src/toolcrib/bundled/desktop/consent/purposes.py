"""What each tool is used for: calls for the same purpose in the same window need one approval.

Tools that are not listed either only look, or are approved like any other tool.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["window", "program", "application", "clipboard", "macro", "each"]
"""What the approval is for: a window, a program to start, a running application, the clipboard, one run of a
macro, or one call."""


@dataclass(frozen=True)
class Purpose:
    kind: Kind
    action: str
    """For the preview: `click`, `type` …"""
    label: str
    """What an approval allows; `{target}` is the window, program or application."""
    shown: str = ""
    """The argument whose text the preview shows: what will be typed."""
    points: bool = False
    """Its coordinates are a place on the screen, not a new place of a window."""
    types: bool = False
    """Its keys go to the focused field, whatever that is."""


def _control(action: str, shown: str = "", *, points: bool = False, types: bool = False) -> Purpose:
    return Purpose("window", action, "Control the window {target}", shown, points, types)


_OPEN = Purpose("program", "open", "Open {target}")
_END = Purpose("application", "end", "Close the application {target}")
_READ = Purpose("clipboard", "read_clipboard", "Read the clipboard")
_WRITE = Purpose("clipboard", "write_clipboard", "Change the clipboard", "text")
_SCRIPT = Purpose("each", "script", "Run this script", "script")

PURPOSES: dict[str, Purpose] = {
    "click": _control("click", points=True),
    "click_element": _control("click"),
    "scroll": _control("scroll", points=True),
    "drag": _control("drag", points=True),
    "type_text": _control("type", "text", types=True),
    "press_key": _control("press", types=True),
    "write_element_value": _control("fill", "value"),
    "perform_element_action": _control("act", "action"),
    "create_input": _control("act", points=True, types=True),
    "focus_window": _control("window"),
    "move_window": _control("window"),
    "resize_window": _control("window"),
    "minimize_window": _control("window"),
    "restore_window": _control("window"),
    "close_window": _control("close"),
    "open_application": _OPEN,
    "delete_application": _END,
    "get_clipboard": _READ,
    "get_clipboard_history": _READ,
    "write_clipboard": _WRITE,
    "clear_clipboard": _WRITE,
    "execute_macro": Purpose("macro", "macro", "Run this macro"),
    "execute_apple_script": _SCRIPT,
    "execute_javascript": _SCRIPT,
    "execute_shell_command": Purpose("each", "script", "Run this command", "command"),
}
