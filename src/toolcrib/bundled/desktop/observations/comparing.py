"""What is different between two looks at windows, applications or elements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from toolcrib.bundled.desktop.backend import Application, Element, ElementRef, Tree, Window
from toolcrib.bundled.desktop.elements.selector import attribute, normal_role
from toolcrib.bundled.desktop.observations.model import (
    AttributeChange,
    ChangeWord,
    ObservationFilter,
    ObservedChange,
)

WATCHED = ("name", "value", "description", "enabled", "visible", "focused", "checked", "selected", "expanded")
"""Attributes that are compared unless a filter names others."""
MAX_CHANGES = 200
"""Of one look; a program that replaces its whole window would otherwise flood the client."""
MAX_VALUE = 500


@dataclass(frozen=True)
class Programs:
    """The applications, and which one is active."""

    running: Mapping[int, Application]
    active: int | None


def compare_window_lists(before: Sequence[Window], after: Sequence[Window]) -> list[ObservedChange]:
    old, new = {each.id: each for each in before}, {each.id: each for each in after}
    created = [_window("created", each) for each in after if each.id not in old]
    destroyed = [_window("destroyed", each) for each in before if each.id not in new]
    changed = [
        _window(word, new[key]) for key in new.keys() & old.keys() for word in _changes_of(old[key], new[key])
    ]
    return [*created, *changed, *destroyed]


def _changes_of(old: Window, new: Window) -> Iterator[str]:
    if (old.rect.x, old.rect.y) != (new.rect.x, new.rect.y):
        yield "moved"
    if (old.rect.width, old.rect.height) != (new.rect.width, new.rect.height):
        yield "resized"
    if old.minimised != new.minimised:
        yield "minimized" if new.minimised else "restored"
    if new.active and not old.active:
        yield "focused"


def compare_programs(before: Programs, after: Programs) -> list[ObservedChange]:
    changes = [_program("launched", key) for key in after.running.keys() - before.running.keys()]
    if before.active != after.active:
        changes += [_program("deactivated", before.active)] if before.active is not None else []
        changes += [_program("activated", after.active)] if after.active is not None else []
    return changes + [_program("terminated", key) for key in before.running.keys() - after.running.keys()]


def compare_elements(before: Tree, after: Tree, wanted: ObservationFilter) -> list[ObservedChange]:
    """Added, removed and modified elements; of incomplete trees nothing counts as removed."""
    old, new = _matching(before.elements, wanted), _matching(after.elements, wanted)
    process = after.application
    added = [_element("element_added", new[ref], process) for ref in new if ref not in old]
    modified = [_modified(old[ref], new[ref], process, wanted) for ref in new if ref in old]
    removed: list[ObservedChange] = []
    if before.complete and after.complete:
        removed = [_element("element_removed", old[ref], process) for ref in old if ref not in new]
    return [each for each in (*added, *modified, *removed) if each is not None]


def _matching(elements: Iterable[Element], wanted: ObservationFilter) -> dict[ElementRef, Element]:
    roles = {normal_role(role) for role in wanted.roles}
    return {
        each.ref: each
        for each in elements
        if (not roles or normal_role(each.role) in roles) and (not wanted.visible_only or each.visible)
    }


def _modified(old: Element, new: Element, process: int, wanted: ObservationFilter) -> ObservedChange | None:
    changes = tuple(
        AttributeChange(name, attribute(old, name)[:MAX_VALUE], attribute(new, name)[:MAX_VALUE])
        for name in wanted.attributes or WATCHED
        if attribute(old, name) != attribute(new, name)
    )
    if not changes:
        return None
    return ObservedChange(
        "element_modified", application=process, element=new, old_element=old, changes=changes
    )


def _element(kind: ChangeWord, element: Element, process: int) -> ObservedChange:
    return ObservedChange(kind, application=process, element=element)


def _window(word: str, window: Window) -> ObservedChange:
    return ObservedChange(
        "window_event", word, window.application, window_id=window.id, title=window.title[:MAX_VALUE]
    )


def _program(word: str, process: int) -> ObservedChange:
    return ObservedChange("application_event", word, process)
