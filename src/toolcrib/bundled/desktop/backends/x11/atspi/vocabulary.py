"""AT-SPI's numbers for roles and states, with their names, and the clean-up of element names (blanks, doubled
names of GTK 4, longest name)."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

ROLES = [
    "invalid",
    "accelerator label",
    "alert",
    "animation",
    "arrow",
    "calendar",
    "canvas",
    "check box",
    "check menu item",
    "color chooser",
    "column header",
    "combo box",
    "date editor",
    "desktop icon",
    "desktop frame",
    "dial",
    "dialog",
    "directory pane",
    "drawing area",
    "file chooser",
    "filler",
    "focus traversable",
    "font chooser",
    "frame",
    "glass pane",
    "html container",
    "icon",
    "image",
    "internal frame",
    "label",
    "layered pane",
    "list",
    "list item",
    "menu",
    "menu bar",
    "menu item",
    "option pane",
    "page tab",
    "page tab list",
    "panel",
    "password text",
    "popup menu",
    "progress bar",
    "push button",
    "radio button",
    "radio menu item",
    "root pane",
    "row header",
    "scroll bar",
    "scroll pane",
    "separator",
    "slider",
    "spin button",
    "split pane",
    "status bar",
    "table",
    "table cell",
    "table column header",
    "table row header",
    "tearoff menu item",
    "terminal",
    "text",
    "toggle button",
    "tool bar",
    "tool tip",
    "tree",
    "tree table",
    "unknown",
    "viewport",
    "window",
    "extended",
    "header",
    "footer",
    "paragraph",
    "ruler",
    "application",
    "autocomplete",
    "editbar",
    "embedded",
    "entry",
    "chart",
    "caption",
    "document frame",
    "heading",
    "page",
    "section",
    "redundant object",
    "form",
    "link",
    "input method window",
    "table row",
    "tree item",
    "document spreadsheet",
    "document presentation",
    "document text",
    "document web",
    "document email",
    "comment",
    "list box",
    "grouping",
    "image map",
    "notification",
    "info bar",
    "level bar",
    "title bar",
    "block quote",
    "audio",
    "video",
    "definition",
    "article",
    "landmark",
    "log",
    "marquee",
    "math",
    "rating",
    "timer",
    "static",
    "math fraction",
    "math root",
    "subscript",
    "superscript",
    "description list",
    "description term",
    "description value",
    "footnote",
    "content deletion",
    "content insertion",
    "mark",
    "suggestion",
    "push button menu",
]
STATES = [
    "invalid",
    "active",
    "armed",
    "busy",
    "checked",
    "collapsed",
    "defunct",
    "editable",
    "enabled",
    "expandable",
    "expanded",
    "focusable",
    "focused",
    "has tooltip",
    "horizontal",
    "iconified",
    "modal",
    "multi line",
    "multiselectable",
    "opaque",
    "pressed",
    "resizable",
    "selectable",
    "selected",
    "sensitive",
    "showing",
    "single line",
    "stale",
    "transient",
    "vertical",
    "visible",
    "manages descendants",
    "indeterminate",
    "required",
    "truncated",
    "animated",
    "invalid entry",
    "supports autocompletion",
    "selectable text",
    "is default",
    "visited",
    "checkable",
    "has popup",
    "read only",
]
_SPACE = re.compile(r"\s+")
_CLASS = re.compile(r"(Gtk|Adw|Gdk)[A-Z]\w+")
MAX_NAME = 500


def role_name(number: int) -> str:
    return ROLES[number] if 0 <= number < len(ROLES) else f"role {number}"


def state_names(words: Sequence[int]) -> frozenset[str]:
    """The names of the bits that are set in two 32-bit words."""
    low, high = (*words, 0, 0)[:2]
    return _named(low | high << 32)


@functools.lru_cache(1024)
def _named(bits: int) -> frozenset[str]:
    return frozenset(name for index, name in enumerate(STATES) if bits >> index & 1)


@functools.lru_cache(4096)
def clean_name(name: str | None) -> str:
    """Without padding, and without what GTK 4 makes of names: `7 7` for `7`, its class if there is none."""
    words = _SPACE.sub(" ", name or "").strip()
    if _CLASS.fullmatch(words):
        return ""
    half = len(words) // 2
    if len(words) % 2 and words[half : half + 1] == " " and words[:half] == words[half + 1 :]:
        words = words[:half]
    return words[:MAX_NAME]
