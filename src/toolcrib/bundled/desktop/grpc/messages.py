"""Applications, windows, displays and elements as messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcrib.bundled.desktop.backend import Application, Display, Element, ElementRef, Window
from toolcrib.bundled.desktop.elements.selector import is_enabled
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.bundled.desktop.grpc.failures import invalid
from toolcrib.bundled.desktop.grpc.schema import types, v1
from toolcrib.bundled.desktop.resources import application_name, window_name

STATES, INTERFACES, REFERENCE = "states", "interfaces", "reference"
"""Attributes with what the wire format has no field for; states and interfaces are separated by commas.
The reference stays the same as long as the element exists; ids are new with each reading."""
Path = tuple[int, ...]


def application_message(application: Application) -> Any:
    return v1.Application(
        name=application_name(application.id), pid=application.id, display_name=application.name
    )


def window_message(window: Window) -> Any:
    rect = window.rect
    return v1.Window(
        name=window_name(window.application, window.id),
        title=window.title,
        bounds=v1.Bounds(x=rect.x, y=rect.y, width=rect.width, height=rect.height),
        z_index=window.level,
        visible=not window.minimised,
        bundle_id=window.window_class,
    )


def display_message(display: Display) -> Any:
    frame = region_message(display.rect)
    return v1.Display(
        name=f"displays/{display.id}",
        display_id=display.id,
        frame=frame,
        visible_frame=frame,
        is_main=display.primary,
        scale=display.scale,
    )


def region_message(rect: Rect) -> Any:
    return types.Region(x=rect.x, y=rect.y, width=rect.width, height=rect.height)


def rect_of(region: Any) -> Rect:
    return Rect(round(region.x), round(region.y), round(region.width), round(region.height))


def point_of(point: Any) -> Point:
    return Point(round(point.x), round(point.y))


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
        return {kind: {"operator": operator, "selectors": [selector_value(each) for each in value.selectors]}}
    return {kind: value}


def masked(message: Any, mask: Any) -> Any:
    """Only the fields that a mask names; all of them without one."""
    if not mask.paths or "*" in mask.paths:
        return message
    if not mask.IsValidForDescriptor(message.DESCRIPTOR):
        raise invalid("INVALID_FORMAT", "read_mask names a field that does not exist.", "read_mask")
    made = type(message)()
    mask.MergeMessage(message, made)
    return made
