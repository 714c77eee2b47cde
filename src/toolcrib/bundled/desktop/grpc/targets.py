"""Which applications, windows and elements a request means, by resource names and selectors; errors for
malformed names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.bundled.desktop.backend import Backend, Element, ElementRef
from toolcrib.bundled.desktop.elements.search import ElementSearch, search
from toolcrib.bundled.desktop.elements.selector import Selector, parse_selector
from toolcrib.bundled.desktop.elements.snapshots import Snapshots, TreeSnapshot
from toolcrib.bundled.desktop.grpc.failures import RpcFailure, invalid, not_found
from toolcrib.bundled.desktop.grpc.messages import Path, element_message, paths_of, selector_value
from toolcrib.serverkit.context import ToolFailure

ANY = "-"
"""In the place of an id: all of them, or whichever it is."""
_APPLICATION = re.compile(r"applications/(\d{1,10}|-)")
_WINDOW = re.compile(r"applications/(\d{1,10}|-)/windows/(\d{1,10})")


def application_of(name: str, field: str = "name") -> int:
    """The process id; raises `RpcFailure` for `applications/-`, too."""
    found = parent_of(_given(name, field))
    if found is None:
        raise _malformed(name, "applications/{pid}", field)
    return found


def parent_of(name: str, field: str = "parent") -> int | None:
    """The process id of a parent; None for all applications."""
    if not name:
        return None
    found = _APPLICATION.fullmatch(name)
    if found is None:
        raise _malformed(name, "applications/{pid}", field)
    return None if found[1] == ANY else int(found[1])


def window_of(name: str, field: str = "name") -> int:
    """The window's id, which is unique on the display."""
    found = _WINDOW.fullmatch(_given(name, field).removesuffix("/state"))
    if found is None:
        raise _malformed(name, "applications/{pid}/windows/{window}", field)
    return int(found[2])


def last_part(name: str, collection: str) -> str:
    """`17` of `macros/17`, if the collection is `macros`."""
    folder, _, identifier = _given(name, "name").rpartition("/")
    if folder.rpartition("/")[2] != collection or not re.fullmatch(r"[\w.-]{1,128}", identifier):
        raise _malformed(name, f"{collection}/{{id}}", "name")
    return identifier


def _given(name: str, field: str) -> str:
    if not name:
        raise invalid("MISSING_RESOURCE_NAME_FIELD", f"{field} is empty.", field)
    return name


def _malformed(name: str, pattern: str, field: str) -> RpcFailure:
    return invalid("INVALID_RESOURCE_NAME", f"{name[:200]!r} is not a name like {pattern}.", field)


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
