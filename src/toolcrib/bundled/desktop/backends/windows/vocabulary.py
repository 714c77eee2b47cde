"""The control types, properties and patterns of UI Automation, and our words for them, which are AT-SPI's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RUNTIME_ID, BOUNDING_RECTANGLE, PROCESS_ID, CONTROL_TYPE = 30000, 30001, 30002, 30003
NAME, HAS_FOCUS, IS_FOCUSABLE, IS_ENABLED = 30005, 30008, 30009, 30010
AUTOMATION_ID, CLASS_NAME, HELP_TEXT, IS_PASSWORD = 30011, 30012, 30013, 30019
IS_OFFSCREEN, IS_REQUIRED = 30022, 30025
HAS_EXPAND, HAS_INVOKE, HAS_RANGE, HAS_SCROLL_ITEM = 30028, 30031, 30033, 30035
HAS_SELECTION_ITEM, HAS_TEXT, HAS_TOGGLE, HAS_VALUE, HAS_LEGACY = 30036, 30040, 30041, 30043, 30090
VALUE, VALUE_READ_ONLY, RANGE_VALUE = 30045, 30046, 30047
EXPAND_STATE, IS_MODAL, IS_SELECTED, TOGGLE_STATE = 30070, 30077, 30079, 30086
PROPERTIES = (
    RUNTIME_ID,
    BOUNDING_RECTANGLE,
    PROCESS_ID,
    CONTROL_TYPE,
    NAME,
    HAS_FOCUS,
    IS_FOCUSABLE,
    IS_ENABLED,
    AUTOMATION_ID,
    CLASS_NAME,
    HELP_TEXT,
    IS_PASSWORD,
    IS_OFFSCREEN,
    IS_REQUIRED,
    HAS_EXPAND,
    HAS_INVOKE,
    HAS_RANGE,
    HAS_SCROLL_ITEM,
    HAS_SELECTION_ITEM,
    HAS_TEXT,
    HAS_TOGGLE,
    HAS_VALUE,
    HAS_LEGACY,
    VALUE,
    VALUE_READ_ONLY,
    RANGE_VALUE,
    EXPAND_STATE,
    IS_MODAL,
    IS_SELECTED,
    TOGGLE_STATE,
)
CONTROL_TYPES = (
    "push button",
    "calendar",
    "check box",
    "combo box",
    "entry",
    "link",
    "image",
    "list item",
    "list box",
    "popup menu",
    "menu bar",
    "menu item",
    "progress bar",
    "radio button",
    "scroll bar",
    "slider",
    "spin button",
    "status bar",
    "page tab list",
    "page tab",
    "label",
    "tool bar",
    "tool tip",
    "tree",
    "tree item",
    "unknown",
    "grouping",
    "unknown",
    "table",
    "table row",
    "document text",
    "push button menu",
    "frame",
    "panel",
    "header",
    "column header",
    "table",
    "title bar",
    "separator",
    "panel",
    "tool bar",
)
"""From UIA_ButtonControlTypeId (50000) to UIA_AppBarControlTypeId (50040)."""
FIRST_CONTROL_TYPE = 50000
ACTIONS: Mapping[str, tuple[int, int, str, str]] = {
    "click": (HAS_INVOKE, 10000, "IUIAutomationInvokePattern", "Invoke"),
    "toggle": (HAS_TOGGLE, 10015, "IUIAutomationTogglePattern", "Toggle"),
    "select": (HAS_SELECTION_ITEM, 10010, "IUIAutomationSelectionItemPattern", "Select"),
    "expand": (HAS_EXPAND, 10005, "IUIAutomationExpandCollapsePattern", "Expand"),
    "collapse": (HAS_EXPAND, 10005, "IUIAutomationExpandCollapsePattern", "Collapse"),
    "scroll into view": (HAS_SCROLL_ITEM, 10017, "IUIAutomationScrollItemPattern", "ScrollIntoView"),
    "dodefault": (HAS_LEGACY, 10018, "IUIAutomationLegacyIAccessiblePattern", "DoDefaultAction"),
}
"""Our name: the property that says whether an element has it, the pattern, its interface and its method."""
VALUE_PATTERN = (10002, "IUIAutomationValuePattern")
RANGE_PATTERN = (10003, "IUIAutomationRangeValuePattern")
TEXT_PATTERN = (10014, "IUIAutomationTextPattern")
COLLAPSED, EXPANDED, LEAF = 0, 1, 3
ON, MIXED = 1, 2
TEXT_ROLES = {"entry", "combo box", "document text", "spin button"}
VALUE_ROLES = {"slider", "progress bar", "scroll bar", "spin button"}


def role_name(values: Mapping[int, Any]) -> str:
    index = int(values.get(CONTROL_TYPE) or 0) - FIRST_CONTROL_TYPE
    role = CONTROL_TYPES[index] if 0 <= index < len(CONTROL_TYPES) else "unknown"
    if role == "entry" and values.get(IS_PASSWORD):
        return "password text"
    if role == "frame" and values.get(IS_MODAL):
        return "dialog"
    if role == "push button" and values.get(HAS_TOGGLE):
        return "toggle button"
    if role == "menu item":
        return _menu_role(values)
    return role


def state_names(role: str, values: Mapping[int, Any], *, showing: bool) -> frozenset[str]:
    states = {"visible", "showing"} if showing else set()
    states |= {"enabled", "sensitive"} if values.get(IS_ENABLED) else set()
    flags = {
        HAS_FOCUS: "focused",
        IS_FOCUSABLE: "focusable",
        IS_SELECTED: "selected",
        IS_REQUIRED: "required",
        IS_MODAL: "modal",
    }
    states |= {state for number, state in flags.items() if values.get(number) is True}
    if values.get(HAS_TOGGLE):
        states |= {ON: {"checked"}, MIXED: {"indeterminate"}}.get(values.get(TOGGLE_STATE) or 0, set())
    if role == "radio button" and values.get(IS_SELECTED) is True:
        states.add("checked")
    if values.get(HAS_EXPAND) and values.get(EXPAND_STATE) != LEAF:
        states |= {"expandable", "expanded" if values.get(EXPAND_STATE) == EXPANDED else "collapsed"}
    if is_editable(role, values):
        states.add("editable")
    elif role in TEXT_ROLES and values.get(VALUE_READ_ONLY) is True:
        states.add("read only")
    return frozenset(states)


def is_editable(role: str, values: Mapping[int, Any]) -> bool:
    if role == "password text":
        return True
    return role in TEXT_ROLES and bool(values.get(HAS_VALUE)) and values.get(VALUE_READ_ONLY) is False


def _menu_role(values: Mapping[int, Any]) -> str:
    if values.get(HAS_EXPAND) and values.get(EXPAND_STATE) != LEAF:
        return "menu"
    return "check menu item" if values.get(HAS_TOGGLE) else "menu item"
