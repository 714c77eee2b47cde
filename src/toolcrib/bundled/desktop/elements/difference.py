"""What an action changed: elements and windows that came (`+`), went (`-`) or became different (`~`). Decides
the format, how much of it a reply shows, and what is ignored, such as a blinking cursor."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from toolcrib.bundled.desktop.backend import SHOWN, Element, ElementRef, ElementTree, Screenshot, Window
from toolcrib.bundled.desktop.elements.outline import fit, reduce, shown_states
from toolcrib.bundled.desktop.elements.snapshots import describe
from toolcrib.bundled.desktop.geometry import Rect


def describe_changes(before: Sequence[Window], after: Sequence[Window]) -> list[str]:
    """`+` came, `-` went, `~` changed its title, place or state."""
    old = {window.id: window for window in before}
    lines = compare_windows(before, after)
    for window in after:
        changes = _differences(old[window.id], window) if window.id in old else []
        if changes:
            lines.append(f"~ window {window.id} {window.title[:80]!r}: {', '.join(changes)}")
    return lines


def _differences(old: Window, new: Window) -> list[str]:
    changes = []
    if (old.rect.x, old.rect.y) != (new.rect.x, new.rect.y):
        changes.append(f"moved to {new.rect.x},{new.rect.y}")
    if (old.rect.width, old.rect.height) != (new.rect.width, new.rect.height):
        changes.append(f"size {new.rect.width}x{new.rect.height}")
    for state in ("active", "minimised"):
        if getattr(old, state) != getattr(new, state):
            changes.append(state if getattr(new, state) else f"not {state}")
    return changes


BUDGET = 400
"""Tokens; a whole reply to an action has at most 500."""
MAX_TITLE = 120
MAX_LINES = 25
MAX_EXCERPT = 80
CURSOR_WIDTH, CURSOR_HEIGHT = 3, 80
"""Pixels of a text cursor at most."""
WINDOWS = {"frame", "window", "dialog", "application"}


def compare_trees(before: ElementTree, after: ElementTree) -> list[str]:
    """`+` came, `-` went, `~` changed; nothing if one of them could not be read."""
    if not before.elements or not after.elements:
        return []
    old, new = _compared(before), _compared(after)
    kept = [(old[ref], element) for ref, element in new.items() if ref in old]
    # First what says most: a spreadsheet disables dozens of buttons while a cell is edited.
    kept.sort(key=lambda pair: (pair[0].name, pair[0].text) == (pair[1].name, pair[1].text))
    lines = [_changed(*pair) for pair in kept]
    lines += [f"+ {_shown(element)}" for ref, element in new.items() if ref not in old]
    if before.complete and after.complete:
        lines += [f"- {_shown(element)}" for ref, element in old.items() if ref not in new]
    return [line for line in lines if line]


def _compared(tree: ElementTree) -> dict[ElementRef, Element]:
    """The visible elements. GTK 4 says only of its windows that they are showing."""
    elements: Sequence[Element] = tree.elements
    if not any("showing" in element.states and element.role not in WINDOWS for element in elements):
        elements = [
            dataclasses.replace(element, states=element.states | {"showing"})
            if element.states & SHOWN
            else element
            for element in elements
        ]
    return {node.element.ref: node.element for node in reduce(elements)}


def changed_area(before: Screenshot, after: Screenshot) -> Rect | None:
    """The rectangle around all pixels that differ; None for none, or only those of a blinking text cursor."""
    if before.pixels.shape != after.pixels.shape:
        return Rect(after.origin.x, after.origin.y, after.pixels.shape[1], after.pixels.shape[0])
    height = after.pixels.shape[0]
    different = before.pixels != after.pixels
    rows = different.reshape(height, -1).any(axis=1).nonzero()[0]
    if not len(rows):
        return None
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    columns = different[top:bottom].any(axis=(0, 2)).nonzero()[0]
    left, right = int(columns[0]), int(columns[-1]) + 1
    if right - left <= CURSOR_WIDTH and bottom - top == len(rows) <= CURSOR_HEIGHT:
        return None
    return Rect(after.origin.x + left, after.origin.y + top, right - left, bottom - top)


def compare_windows(before: Sequence[Window], after: Sequence[Window]) -> list[str]:
    old, new = {window.id: window for window in before}, {window.id: window for window in after}
    lines = [f"+ window {window.id} {window.title[:MAX_TITLE]!r}" for window in after if window.id not in old]
    lines += [
        f"- window {window.id} {window.title[:MAX_TITLE]!r}" for window in before if window.id not in new
    ]
    for window in after:
        if window.id in old and old[window.id].title != window.title:
            lines.append(f"~ window {window.id} is now called {window.title[:MAX_TITLE]!r}")
    return lines


def summarise(lines: Sequence[str]) -> list[str]:
    """Within the budget, with a note of what was left out."""
    kept = fit(lines[:MAX_LINES], BUDGET)
    if len(kept) < len(lines):
        kept.append(f"… and {len(lines) - len(kept)} more changes")
    return kept


def _changed(old: Element, new: Element) -> str:
    changes = []
    if old.name != new.name:
        changes.append(f"is now called {new.name!r}")
    if old.text is not None and new.text is not None and old.text != new.text:
        changes.append(f"contains {_excerpt(old.text, new.text)!r}")
    states = set(shown_states(new)) ^ set(shown_states(old))
    changes += [state if state in shown_states(new) else f"not {state}" for state in sorted(states)]
    return f"~ {_shown(old)}: {', '.join(changes)}" if changes else ""


def _excerpt(old: str, new: str) -> str:
    """The new text from the line on where it differs."""
    same = next((index for index, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), -1)
    start = new.rfind("\n", 0, same if same >= 0 else min(len(old), len(new))) + 1
    part = new[start : start + MAX_EXCERPT]
    return part if not start else f"…{part}"


def _shown(element: Element) -> str:
    text = describe(element)
    return text if len(text) <= 100 else f"{text[:99]}…"
