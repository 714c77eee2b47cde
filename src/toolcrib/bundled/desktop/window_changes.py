"""What became different between two lists of windows."""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.bundled.desktop.backend import Window
from toolcrib.bundled.desktop.elements.difference import compare_windows


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
