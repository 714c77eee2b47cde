"""Elements as short text for a model: only what matters, within a budget of tokens. Decides the default
budget, shown states, roles left out because they only arrange others, and the format of a line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from toolcrib.bundled.desktop.backend import Element, ElementRef
from toolcrib.bundled.desktop.elements.selector import is_enabled

CHARACTERS_PER_TOKEN = 4
DEFAULT_BUDGET = 2000
"""Tokens."""
MAX_TEXT = 80
SHOWN_STATES = (
    "focused",
    "checked",
    "selected",
    "expanded",
    "pressed",
    "modal",
    "busy",
    "required",
    "invalid entry",
    "read only",
)
LAYOUT_ROLES = {
    "filler",
    "panel",
    "scroll pane",
    "viewport",
    "section",
    "separator",
    "split pane",
    "layered pane",
    "root pane",
    "glass pane",
    "grouping",
    "unknown",
    "redundant object",
    "embedded",
    "internal frame",
    "scroll bar",
    "invalid",
}
"""Without a name, they only arrange others."""


@dataclass(frozen=True)
class OutlineNode:
    element: Element
    depth: int


def reduce(elements: Sequence[Element]) -> list[OutlineNode]:
    """The visible elements, without those that only arrange others or repeat their parent."""
    depths: dict[ElementRef, int] = {}
    names: dict[ElementRef, str] = {}
    kept: list[OutlineNode] = []
    for element in elements:
        parent = element.parent
        depth = depths.get(parent, 0) if parent else 0
        parent_name = names.get(parent, "") if parent else ""
        matters = element.visible and _matters(element, parent_name)
        if matters:
            kept.append(OutlineNode(element, depth))
        depths[element.ref] = depth + 1 if matters else depth
        names[element.ref] = element.name if matters else parent_name
    return kept


def _matters(element: Element, parent_name: str) -> bool:
    if element.role in LAYOUT_ROLES:
        return bool(element.name) and element.role not in ("scroll bar", "separator", "filler")
    if element.role in ("label", "static", "image", "icon"):
        return bool(element.name) and element.name != parent_name
    return element.role not in ("application", "redundant object")


def line(element: Element, element_id: str) -> str:
    """One element: id, role, name, contents, states and place."""
    parts = [element_id, element.role]
    if element.name:
        parts.append(repr(_cut(element.name)))
    if element.text is not None and element.text != element.name:
        parts.append(f"value={shorten(element.text, MAX_TEXT)!r}")
    marks = shown_states(element)
    if marks:
        parts.append(f"[{', '.join(marks)}]")
    if element.rect is not None:
        rect = element.rect
        parts.append(f"({rect.x},{rect.y} {rect.width}x{rect.height})")
    return " ".join(parts)


def shown_states(element: Element) -> list[str]:
    marks = [state for state in SHOWN_STATES if state in element.states]
    if not is_enabled(element) and element.role not in ("label", "frame", "panel", "application"):
        marks.append("disabled")
    if not element.visible:
        marks.append("hidden")
    return marks


def fit(lines: Iterable[str], budget: int) -> list[str]:
    """The first lines that the budget of tokens allows."""
    left = budget * CHARACTERS_PER_TOKEN
    kept: list[str] = []
    for text in lines:
        left -= len(text) + 1
        if left < 0:
            break
        kept.append(text)
    return kept


def shorten(text: str, length: int) -> str:
    """Without the middle: what came last in a log or a terminal is at its end."""
    half = (length - 1) // 2
    return text if len(text) <= length else f"{text[: length - 1 - half]}…{text[-half:]}"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"
