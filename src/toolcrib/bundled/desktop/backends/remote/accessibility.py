"""Elements of a remote desktop.

The server gives an element a new id with each reading. We know it by the server's own reference, if the
server tells it, and use the newest id.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import grpc

from toolcrib.bundled.desktop.backend import AtPoint, Element, ElementRef, ElementTree
from toolcrib.bundled.desktop.backends.remote.connection import GrpcConnection, RemoteFailure
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.bundled.desktop.grpc.messages import INTERFACES, REFERENCE, STATES
from toolcrib.bundled.desktop.resources import application_name

KEPT = 16
"""Applications whose last tree is remembered."""
TREE_TIMEOUT = 5.0

_OWN = {"name", "description", "value", STATES, INTERFACES, REFERENCE}


class RemoteAccessibility:
    def __init__(self, connection: GrpcConnection) -> None:
        self._connection = connection
        self._seen: OrderedDict[str, dict[ElementRef, tuple[str, Element]]] = OrderedDict()
        """By application: the id and the state of each element at the last reading."""

    async def tree(self, application: int, timeout: float) -> ElementTree:
        """A server that does not answer in time gives an empty, incomplete tree."""
        if not application:
            return ElementTree(application, ())
        name = application_name(application)
        try:
            response = await self._connection.call("TraverseAccessibility", within=timeout + 1, name=name)
        except RemoteFailure as error:
            if error.code == grpc.StatusCode.DEADLINE_EXCEEDED:
                return ElementTree(application, (), complete=False)
            if error.code == grpc.StatusCode.NOT_FOUND:
                return ElementTree(application, ())
            raise
        return ElementTree(application, self._remember(name, response.elements))

    async def rects(self, elements: Collection[ElementRef]) -> Mapping[ElementRef, Rect]:
        """As the last tree had them: it was read just before."""
        known = ((ref, self._known(ref)) for ref in elements)
        return {ref: state.rect for ref, state in known if state is not None and state.rect is not None}

    async def at_point(self, element: ElementRef, at: Point) -> AtPoint:
        return AtPoint("unknown")

    async def text_rect(self, element: Element, start: int, end: int) -> Rect | None:
        return None

    async def texts(self, elements: Collection[Element]) -> Mapping[ElementRef, str]:
        known = ((element.ref, self._known(element.ref)) for element in elements)
        return {ref: state.text for ref, state in known if state is not None and state.text is not None}

    async def read(self, element: ElementRef) -> Element | None:
        message = await self._get(element)
        return None if message is None else element_from(message, element, None)

    async def actions(self, element: ElementRef) -> Sequence[str]:
        message = await self._get(element)
        return [] if message is None else list(message.actions)

    async def act(self, element: ElementRef, action: str) -> bool:
        response = await self._target("PerformElementAction", element, action=action)
        return bool(response is not None and response.success)

    async def focus(self, element: ElementRef) -> bool:
        try:
            return await self.act(element, "focus")
        except RemoteFailure as error:
            if error.code in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNIMPLEMENTED):
                return False
            raise

    async def write(self, element: ElementRef, value: str) -> bool:
        """The server types into what it cannot set, and checks the result."""
        response = await self._target("WriteElementValue", element, value=value)
        return bool(response is not None and response.success)

    async def _get(self, element: ElementRef) -> Any | None:
        for again in (False, True):
            element_id = await self._id(element, again)
            if element_id is None:
                return None
            try:
                return await self._connection.call("GetElement", name=f"{element[0]}/elements/{element_id}")
            except RemoteFailure as error:
                if error.code != grpc.StatusCode.NOT_FOUND:
                    raise
        return None

    async def _target(self, method: str, element: ElementRef, **fields: Any) -> Any | None:
        """Acts at most once: an id that the server has forgotten is renewed by reading it first."""
        if await self._get(element) is None:
            return None
        element_id = await self._id(element, False)
        return await self._connection.call(method, parent=element[0], element_id=element_id, **fields)

    async def _id(self, element: ElementRef, again: bool) -> str | None:
        """The server's newest id of an element; `again` reads the tree for it."""
        if again:
            await self.tree(int(element[0].rpartition("/")[2]), TREE_TIMEOUT)
        entry = self._seen.get(element[0], {}).get(element)
        return entry[0] if entry is not None else None

    def _known(self, ref: ElementRef) -> Element | None:
        entry = self._seen.get(ref[0], {}).get(ref)
        return entry[1] if entry is not None else None

    def _remember(self, name: str, messages: Sequence[Any]) -> tuple[Element, ...]:
        by_path: dict[tuple[int, ...], ElementRef] = {}
        seen: dict[ElementRef, tuple[str, Element]] = {}
        for message in messages:
            ref = (name, message.attributes.get(REFERENCE) or message.element_id)
            path = tuple(message.path)
            seen[ref] = message.element_id, element_from(message, ref, by_path.get(path[:-1]))
            by_path[path] = ref
        self._seen[name] = seen
        self._seen.move_to_end(name)
        while len(self._seen) > KEPT:
            self._seen.popitem(last=False)
        return tuple(element for _, element in seen.values())


def element_from(message: Any, ref: ElementRef, parent: ElementRef | None) -> Element:
    attributes = dict(message.attributes)
    is_ours = STATES in attributes
    rect = (
        Rect(round(message.x), round(message.y), round(message.width), round(message.height))
        if message.HasField("width")
        else None
    )
    return Element(
        ref=ref,
        parent=parent,
        role=message.role,
        name=attributes.get("name", "") if is_ours else message.text,
        description=attributes.get("description", ""),
        states=_parts(attributes[STATES]) if is_ours else _states(message),
        interfaces=_parts(attributes.get(INTERFACES, "")),
        rect=rect,
        text=attributes.get("value"),
        attributes={name: value for name, value in attributes.items() if name not in _OWN},
    )


def _parts(text: str) -> frozenset[str]:
    return frozenset(part for part in text.split(",") if part)


def _states(message: Any) -> frozenset[str]:
    """Of a server that tells only these."""
    states = {"visible", "showing"} if message.HasField("width") and message.width > 0 else set()
    if message.enabled or not message.HasField("enabled"):
        states |= {"enabled", "sensitive"}
    if message.focused:
        states.add("focused")
    return frozenset(states)
