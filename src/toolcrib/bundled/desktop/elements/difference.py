"""What an action changed: elements and windows that came, went or became different."""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.bundled.desktop.backend import Element, Tree, Window
from toolcrib.bundled.desktop.elements.outline import fit, reduce, shown_states
from toolcrib.bundled.desktop.elements.snapshots import describe

BUDGET = 400
"""Tokens; a whole reply to an action has at most 500."""
MAX_TITLE = 120
MAX_LINES = 25


def compare_trees(before: Tree, after: Tree) -> list[str]:
    """`+` came, `-` went, `~` changed."""
    old = {node.element.ref: node.element for node in reduce(before.elements)}
    new = {node.element.ref: node.element for node in reduce(after.elements)}
    lines = [_changed(old[ref], element) for ref, element in new.items() if ref in old]
    lines += [f"+ {_shown(element)}" for ref, element in new.items() if ref not in old]
    if before.complete and after.complete:
        lines += [f"- {_shown(element)}" for ref, element in old.items() if ref not in new]
    return [line for line in lines if line]


def compare_windows(before: Sequence[Window], after: Sequence[Window]) -> list[str]:
    old, new = {each.id: each for each in before}, {each.id: each for each in after}
    lines = [f"+ window {each.id} {each.title[:MAX_TITLE]!r}" for each in after if each.id not in old]
    lines += [f"- window {each.id} {each.title[:MAX_TITLE]!r}" for each in before if each.id not in new]
    for each in after:
        if each.id in old and old[each.id].title != each.title:
            lines.append(f"~ window {each.id} is now called {each.title[:MAX_TITLE]!r}")
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
        changes.append(f"contains {new.text[:80]!r}")
    states = set(shown_states(new)) ^ set(shown_states(old))
    changes += [state if state in shown_states(new) else f"not {state}" for state in sorted(states)]
    return f"~ {_shown(old)}: {', '.join(changes)}" if changes else ""


def _shown(element: Element) -> str:
    text = describe(element)
    return text if len(text) <= 100 else f"{text[:99]}…"
