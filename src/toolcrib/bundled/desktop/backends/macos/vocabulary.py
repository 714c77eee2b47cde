"""The roles and states of the Accessibility API in our words, which are AT-SPI's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

ROLES = {
    "AXApplication": "application",
    "AXBrowser": "list",
    "AXBusyIndicator": "progress bar",
    "AXButton": "push button",
    "AXCell": "table cell",
    "AXCheckBox": "check box",
    "AXColorWell": "color chooser",
    "AXColumn": "panel",
    "AXComboBox": "combo box",
    "AXDateField": "date editor",
    "AXDisclosureTriangle": "toggle button",
    "AXDrawer": "panel",
    "AXGrid": "table",
    "AXGroup": "panel",
    "AXHeading": "heading",
    "AXHelpTag": "tool tip",
    "AXImage": "image",
    "AXIncrementor": "spin button",
    "AXLayoutArea": "panel",
    "AXLayoutItem": "panel",
    "AXLevelIndicator": "level bar",
    "AXLink": "link",
    "AXList": "list",
    "AXMatte": "panel",
    "AXMenu": "popup menu",
    "AXMenuBar": "menu bar",
    "AXMenuBarItem": "menu",
    "AXMenuButton": "push button menu",
    "AXMenuItem": "menu item",
    "AXOutline": "tree",
    "AXPopover": "window",
    "AXPopUpButton": "combo box",
    "AXProgressIndicator": "progress bar",
    "AXRadioButton": "radio button",
    "AXRadioGroup": "grouping",
    "AXRelevanceIndicator": "level bar",
    "AXRow": "table row",
    "AXRuler": "ruler",
    "AXScrollArea": "scroll pane",
    "AXScrollBar": "scroll bar",
    "AXSheet": "dialog",
    "AXSlider": "slider",
    "AXSplitGroup": "split pane",
    "AXSplitter": "separator",
    "AXStaticText": "label",
    "AXTabGroup": "page tab list",
    "AXTable": "table",
    "AXTextArea": "text",
    "AXTextField": "entry",
    "AXTimeField": "date editor",
    "AXToolbar": "tool bar",
    "AXUnknown": "unknown",
    "AXValueIndicator": "level bar",
    "AXWebArea": "document web",
    "AXWindow": "frame",
}
SUBROLES = {
    "AXDialog": "dialog",
    "AXFloatingWindow": "window",
    "AXOutlineRow": "tree item",
    "AXSearchField": "entry",
    "AXSecureTextField": "password text",
    "AXSwitch": "toggle button",
    "AXSystemDialog": "dialog",
    "AXSystemFloatingWindow": "window",
    "AXTabButton": "page tab",
    "AXToggle": "toggle button",
}
CHECKED_ROLES = {"check box", "radio button", "toggle button", "page tab"}
VALUE_ROLES = {"slider", "spin button", "progress bar", "scroll bar", "level bar"}
TEXT_ROLES = {"entry", "text", "combo box", "date editor"}
"""Their value is a text; that of a password field is never read."""
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MIXED = 2


def role_name(role: str, subrole: str = "", *, has_menu: bool = False) -> str:
    """Unknown roles by their own name: `AXFooBar` is `foo bar`."""
    if role == "AXMenuItem" and has_menu:
        return "menu"
    return SUBROLES.get(subrole) or ROLES.get(role) or _spaced(role)


def action_name(action: str) -> str:
    """`AXShowMenu` as `show menu`."""
    return _spaced(action)


def state_names(role: str, values: Mapping[str, Any], *, showing: bool, editable: bool) -> frozenset[str]:
    states = {"visible"} if "AXSize" in values else set()
    states |= {"showing"} if showing else set()
    states |= {"enabled", "sensitive"} if values.get("AXEnabled", True) else set()
    states |= {"editable"} if editable else set()
    flags = {
        "AXFocused": "focused",
        "AXSelected": "selected",
        "AXExpanded": "expanded",
        "AXDisclosing": "expanded",
        "AXModal": "modal",
        "AXElementBusy": "busy",
        "AXRequired": "required",
        "AXMinimized": "iconified",
        "AXMain": "active",
    }
    states |= {state for name, state in flags.items() if values.get(name)}
    if values.get("AXMenuItemMarkChar"):
        states.add("checked")
    value = values.get("AXValue")
    if role in CHECKED_ROLES and isinstance(value, int | float):
        states |= {0: set(), _MIXED: {"indeterminate"}}.get(int(value), {"checked"})
    return frozenset(states)


def _spaced(name: str) -> str:
    return _WORDS.sub(" ", name.removeprefix("AX")).lower()
