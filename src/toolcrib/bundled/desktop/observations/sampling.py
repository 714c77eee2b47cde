"""Looks at what an observation is about, again and again, and finds what changed since the last look."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from toolcrib.bundled.desktop.backend import Application, Backend, Element, ElementRef, Tree, Window
from toolcrib.bundled.desktop.changes import ChangeKind
from toolcrib.bundled.desktop.elements.search import read_tree, with_places
from toolcrib.bundled.desktop.elements.selector import attribute, normal_role
from toolcrib.bundled.desktop.observations.model import (
    AttributeChange,
    ChangeWord,
    ObservationFilter,
    ObservationRequest,
    ObservedChange,
)
from toolcrib.serverkit.context import ToolFailure

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


MAX_TEXTS = 200
_KEPT = {
    "element_changes": {"element_added", "element_removed", "element_modified"},
    "attribute_changes": {"element_modified"},
    "tree_changes": {"element_added", "element_removed"},
}


class Sampler(Protocol):
    triggers: frozenset[ChangeKind]
    """The changes after which it looks before its next regular look."""

    async def look(self) -> list[ObservedChange]:
        """What changed since the last look; nothing at the first."""

    async def has_ended(self) -> bool:
        """Whether there is nothing left to look at."""


def sampler_for(backend: Backend, application: int | None, request: ObservationRequest) -> Sampler:
    """`application` is None for all; raises `ToolFailure` if elements of all are wanted."""
    if request.type == "window_changes":
        return _Windows(backend, application)
    if request.type == "application_changes":
        return _Programs(backend, application)
    if application is None:
        raise ToolFailure(
            f"An observation of {request.type} needs an application.", "Such as applications/1234."
        )
    return _Elements(backend, application, request)


class _Windows:
    triggers: frozenset[ChangeKind] = frozenset({"window"})

    def __init__(self, backend: Backend, application: int | None) -> None:
        self._backend, self._application = backend, application
        self._last: list[Window] | None = None

    async def look(self) -> list[ObservedChange]:
        listed = await self._backend.windows.list()
        now = [each for each in listed if self._application in (None, each.application)]
        before, self._last = self._last, now
        return [] if before is None else compare_window_lists(before, now)[:MAX_CHANGES]

    async def has_ended(self) -> bool:
        return not self._last and await _is_gone(self._backend, self._application)


class _Programs:
    triggers: frozenset[ChangeKind] = frozenset({"window"})

    def __init__(self, backend: Backend, application: int | None) -> None:
        self._backend, self._application = backend, application
        self._last: Programs | None = None

    async def look(self) -> list[ObservedChange]:
        listed = await self._backend.applications.list()
        wanted = {each.id: each for each in listed if self._application in (None, each.id)}
        windows = await self._backend.windows.list()
        active = next((each.application for each in windows if each.active), None)
        now = Programs(wanted, active if active in wanted else None)
        before, self._last = self._last, now
        return [] if before is None else compare_programs(before, now)[:MAX_CHANGES]

    async def has_ended(self) -> bool:
        return self._application is not None and self._last is not None and not self._last.running


class _Elements:
    triggers: frozenset[ChangeKind] = frozenset({"element"})

    def __init__(self, backend: Backend, application: int, request: ObservationRequest) -> None:
        self._backend, self._application, self._request = backend, application, request
        self._last: Tree | None = None

    async def look(self) -> list[ObservedChange]:
        now = await self._read()
        before, self._last = self._last, now
        if before is None:
            return []
        kept = _KEPT[self._request.type]
        found = compare_elements(before, now, self._request.filter)
        return [each for each in found if each.kind in kept][:MAX_CHANGES]

    async def has_ended(self) -> bool:
        is_empty = self._last is not None and not self._last.elements
        return is_empty and await _is_gone(self._backend, self._application)

    async def _read(self) -> Tree:
        tree = await read_tree(self._backend, self._application)
        elements = list(tree.elements)
        if self._request.filter.visible_only:
            elements = await with_places(self._backend, elements)
        fields = [each for each in elements if "editable" in each.states][:MAX_TEXTS]
        texts = await self._backend.accessibility.texts(fields)
        filled = (
            dataclasses.replace(each, text=texts[each.ref]) if each.ref in texts else each
            for each in elements
        )
        return dataclasses.replace(tree, elements=tuple(filled))


async def _is_gone(backend: Backend, application: int | None) -> bool:
    if application is None:
        return False
    return all(each.id != application for each in await backend.applications.list())
