"""Elements, places and selectors as messages, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcrib.bundled.desktop.backend import Element, ElementRef
from toolcrib.bundled.desktop.elements.selector import is_enabled
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.grpc.schema import types

STATES, INTERFACES, REFERENCE = "states", "interfaces", "reference"
"""Attributes with what the wire format has no field for; states and interfaces are separated by commas.
The reference stays the same as long as the element exists; ids are new with each reading."""
Path = tuple[int, ...]


def rect_of(region: Any) -> Rect:
    return Rect(round(region.x), round(region.y), round(region.width), round(region.height))


def element_message(element: Element, element_id: str, path: Path = (), actions: Sequence[str] = ()) -> Any:
    """`text` is the contents of a field, or the name of anything else; the attributes have both."""
    made = types.Element(
        role=element.role,
        element_id=element_id,
        enabled=is_enabled(element),
        focused="focused" in element.states,
        path=path,
        attributes=_attributes(element),
        actions=actions,
    )
    text = element.text if element.text is not None else element.name
    if text:
        made.text = text
    if element.rect is not None:
        made.x, made.y = element.rect.x, element.rect.y
        made.width, made.height = element.rect.width, element.rect.height
    return made


def _attributes(element: Element) -> dict[str, str]:
    own = {
        "name": element.name,
        "description": element.description,
        "value": element.text,
        STATES: ",".join(sorted(element.states)),
        INTERFACES: ",".join(sorted(element.interfaces)),
        REFERENCE: "".join(element.ref),
    }
    return {**element.attributes, **{name: value for name, value in own.items() if value is not None}}


def paths_of(elements: Sequence[Element]) -> dict[ElementRef, Path]:
    """Where elements are in their tree, as the indexes of the children on the way to them."""
    paths: dict[ElementRef, Path] = {}
    children: dict[Path | None, int] = {}
    for element in elements:
        above = paths.get(element.parent) if element.parent is not None else None
        index = children.get(above, 0)
        children[above] = index + 1
        paths[element.ref] = (*(above or ()), index)
    return paths


def selector_value(selector: Any) -> dict[str, Any]:
    """A selector message as the JSON form of selectors."""
    kind = selector.WhichOneof("criteria")
    if kind is None:
        return {}
    value = getattr(selector, kind)
    if kind == "position":
        return {kind: {"x": value.x, "y": value.y, "tolerance": value.tolerance}}
    if kind == "attributes":
        return {kind: dict(value.attributes)}
    if kind == "compound":
        operator = types.CompoundSelector.Operator.Name(value.operator)
        return {kind: {"operator": operator, "selectors": [selector_value(part) for part in value.selectors]}}
    return {kind: value}
