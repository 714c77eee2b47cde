"""Looks at what an observation is about, again and again, and finds what changed since the last look."""

from __future__ import annotations

import dataclasses
from typing import Protocol

from toolcrib.bundled.desktop.backend import Backend, Tree, Window
from toolcrib.bundled.desktop.changes import ChangeKind
from toolcrib.bundled.desktop.elements.search import read_tree, with_places
from toolcrib.bundled.desktop.observations.comparing import (
    MAX_CHANGES,
    Programs,
    compare_elements,
    compare_programs,
    compare_window_lists,
)
from toolcrib.bundled.desktop.observations.model import ObservationRequest, ObservedChange
from toolcrib.serverkit.context import ToolFailure

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
