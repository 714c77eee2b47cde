"""Which applications and elements a request means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.bundled.desktop.backend import Backend, Element, ElementRef
from toolcrib.bundled.desktop.elements.search import ElementSearch, search
from toolcrib.bundled.desktop.elements.selector import Selector, parse_selector
from toolcrib.bundled.desktop.elements.snapshots import Snapshots, TreeSnapshot
from toolcrib.bundled.desktop.grpc.failures import invalid, not_found
from toolcrib.bundled.desktop.grpc.messages import Path, element_message, paths_of, selector_value
from toolcrib.bundled.desktop.grpc.names import parent_of
from toolcrib.serverkit.context import ToolFailure


@dataclass(frozen=True)
class FoundElement:
    """An element in its snapshot."""

    application: int
    snapshot: TreeSnapshot
    element: Element

    def message(self, actions: Sequence[str] = (), paths: Mapping[ElementRef, Path] | None = None) -> Any:
        """`paths` are those of its tree, if they are known already."""
        known = paths if paths is not None else paths_of(self.snapshot.tree.elements)
        path = known.get(self.element.ref, ())
        return element_message(self.element, self.snapshot.id_of(self.element), path, actions)


def messages_of(found: Sequence[FoundElement]) -> list[Any]:
    """The paths of a tree, which may have many thousand elements, are computed once."""
    snapshots = {match.snapshot.name: match.snapshot for match in found}
    paths = {name: paths_of(snapshot.tree.elements) for name, snapshot in snapshots.items()}
    return [match.message(paths=paths[match.snapshot.name]) for match in found]


async def applications_in(backend: Backend, parent: str) -> list[int]:
    """The application that a parent names, or all of them."""
    application = parent_of(parent)
    listed = [program.id for program in await backend.applications.list()]
    if application is None:
        return listed
    if application not in listed:
        raise not_found("APPLICATION", parent)
    return [application]


def read_selector(message: Any) -> Selector:
    try:
        return parse_selector(selector_value(message))
    except ToolFailure as error:
        reason = "INVALID_REGEX" if "regular expression" in error.message else "INVALID_FORMAT"
        raise invalid(reason, error.message, "selector") from None


async def find_all(
    backend: Backend, snapshots: Snapshots, parent: str, selector: Selector | None
) -> list[FoundElement]:
    """Every match in the parent's applications, visible ones of each first."""
    found: list[FoundElement] = []
    for application in await applications_in(backend, parent):
        result = await search(backend, application, selector)
        found += in_snapshot(snapshots, result)
    return found


def in_snapshot(snapshots: Snapshots, result: ElementSearch) -> list[FoundElement]:
    snapshot = snapshots.add(result.tree)
    return [FoundElement(result.tree.application, snapshot, element) for element in result.matches]
