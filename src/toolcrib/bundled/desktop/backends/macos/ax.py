"""Calls of the Accessibility API: attributes, actions and values of elements.

Every call to a program that hangs ends after `CALL_PATIENCE`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolcrib.bundled.desktop.backends.macos.frameworks import Frameworks
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.serverkit.context import ToolFailure

CALL_PATIENCE = 1.5
SUCCESS = 0
INVALID_ELEMENT = -25202
CANNOT_COMPLETE = -25204
POINT, SIZE, ERROR = 1, 2, 5
"""Types of an AXValue."""
AxElement = Any


class ElementGone(ToolFailure):
    kind = "element_gone"

    def __init__(self) -> None:
        super().__init__("The element or window no longer exists.", "Look again: it may have been replaced.")


class ProgramSilent(ToolFailure):
    kind = "program_silent"

    def __init__(self) -> None:
        super().__init__("The application does not answer.", "It may be busy or hang: try again later.")


class Ax:
    def __init__(self, mac: Frameworks) -> None:
        self._api = mac.services

    def application(self, process: int) -> AxElement:
        element = self._api.AXUIElementCreateApplication(process)
        self._api.AXUIElementSetMessagingTimeout(element, CALL_PATIENCE)
        return element

    def system(self) -> AxElement:
        return self._api.AXUIElementCreateSystemWide()

    def process(self, element: AxElement) -> int | None:
        error, process = self._api.AXUIElementGetPid(element, None)
        return int(process) if error == SUCCESS else None

    def at(self, x: float, y: float) -> AxElement | None:
        """The element at a position of the screen."""
        error, element = self._api.AXUIElementCopyElementAtPosition(self.system(), x, y, None)
        return element if error == SUCCESS else None

    def get(self, element: AxElement, name: str) -> Any:
        """An attribute; None if it has none."""
        error, value = self._api.AXUIElementCopyAttributeValue(element, name, None)
        _check(error)
        return value if error == SUCCESS else None

    def get_all(self, element: AxElement, names: Sequence[str]) -> Mapping[str, Any]:
        """Those of these attributes that it has, in one call."""
        error, values = self._api.AXUIElementCopyMultipleAttributeValues(element, list(names), 0, None)
        _check(error)
        if error != SUCCESS or values is None:
            return {}
        pairs = zip(names, values, strict=False)
        return {name: value for name, value in pairs if value is not None and not self._is_error(value)}

    def set(self, element: AxElement, name: str, value: Any) -> bool:
        error = self._api.AXUIElementSetAttributeValue(element, name, value)
        _check(error)
        return bool(error == SUCCESS)

    def is_settable(self, element: AxElement, name: str) -> bool:
        error, settable = self._api.AXUIElementIsAttributeSettable(element, name, None)
        _check(error)
        return error == SUCCESS and bool(settable)

    def actions(self, element: AxElement) -> list[str]:
        error, names = self._api.AXUIElementCopyActionNames(element, None)
        _check(error)
        return [str(name) for name in names] if error == SUCCESS and names is not None else []

    def perform(self, element: AxElement, action: str) -> bool:
        """True also if the program does not answer: an action may open a dialog inside the call."""
        error = self._api.AXUIElementPerformAction(element, action)
        if error == INVALID_ELEMENT:
            raise ElementGone
        return error in (SUCCESS, CANNOT_COMPLETE)

    def rect(self, position: Any, size: Any) -> Rect | None:
        """From the values of AXPosition and AXSize."""
        at, extent = self._pair(position, POINT), self._pair(size, SIZE)
        if at is None or extent is None:
            return None
        return Rect(round(at[0]), round(at[1]), round(extent[0]), round(extent[1]))

    def place(self, element: AxElement, rect: Rect) -> bool:
        """Move and resize. The size is set twice: a window may not fit where it was."""
        size = self._api.AXValueCreate(SIZE, (rect.width, rect.height))
        at = self._api.AXValueCreate(POINT, (rect.x, rect.y))
        self.set(element, "AXSize", size)
        moved = self.set(element, "AXPosition", at)
        return self.set(element, "AXSize", size) and moved

    def _pair(self, value: Any, kind: int) -> tuple[float, float] | None:
        if value is None:
            return None
        done, pair = self._api.AXValueGetValue(value, kind, None)
        return (float(pair[0]), float(pair[1])) if done else None

    def _is_error(self, value: Any) -> bool:
        """A missing attribute is an AXValue with the error in its place."""
        return isinstance(value, self._api.AXValueRef) and self._api.AXValueGetType(value) == ERROR


def _check(error: int) -> None:
    if error == INVALID_ELEMENT:
        raise ElementGone
    if error == CANNOT_COMPLETE:
        raise ProgramSilent
