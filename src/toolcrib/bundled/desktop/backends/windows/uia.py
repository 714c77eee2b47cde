"""The client of UI Automation through comtypes.

Every call about a program that hangs ends after `CALL_PATIENCE`. All properties of an element and its
children are read in one call, through a cache request.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from toolcrib.bundled.desktop.backends.windows.vocabulary import PROCESS_ID, PROPERTIES
from toolcrib.serverkit.context import ToolFailure

R = TypeVar("R")
CALL_PATIENCE = 1.5
MULTITHREADED = 0
ELEMENT, CHILDREN = 1, 2
"""Scopes of a request."""
TIMEOUT = -2146233083
"""UIA_E_TIMEOUT."""
UiaElement = Any


class UiaElementGone(ToolFailure):
    kind = "element_gone"

    def __init__(self) -> None:
        super().__init__("The element or window no longer exists.", "Look again: it may have been replaced.")


class UiaProgramSilent(ToolFailure):
    kind = "program_silent"

    def __init__(self) -> None:
        super().__init__("The application does not answer.", "It may be busy or hang: try again later.")


@dataclass(frozen=True)
class Automation:
    client: Any
    """An IUIAutomation."""
    interfaces: Any
    """The module that comtypes makes from the type library of UI Automation."""
    error: type[Exception]
    """COMError."""


def load_automation() -> Automation:
    """In the thread that uses it; raises `ToolFailure` if comtypes is not installed."""
    comtypes = _import_comtypes()
    if comtypes is None:
        raise ToolFailure(
            "comtypes is not installed, so elements cannot be found.", "Install toolcrib[desktop]."
        )
    client = importlib.import_module("comtypes.client")
    try:
        interfaces = client.GetModule("UIAutomationCore.dll")
        made = client.CreateObject(interfaces.CUIAutomation8, interface=interfaces.IUIAutomation2)
    except (OSError, comtypes.COMError) as error:
        raise ToolFailure(f"UI Automation cannot be used: {error}.", "Restart the user's session.") from None
    made.ConnectionTimeout = made.TransactionTimeout = int(CALL_PATIENCE * 1000)
    return Automation(made, interfaces, comtypes.COMError)


def join_apartment() -> None:
    """Let this thread use COM objects of the other threads; without comtypes there are none."""
    comtypes = _import_comtypes()
    if comtypes is not None:
        comtypes.CoInitializeEx(MULTITHREADED)


def _import_comtypes() -> Any:
    """None if it is not installed. It initialises COM for the thread that imports it, as the flags say."""
    sys.coinit_flags = MULTITHREADED  # type: ignore[attr-defined]
    try:
        return importlib.import_module("comtypes")
    except ImportError:
        return None


class Uia:
    """Opened when it is first used, in the worker's thread."""

    def __init__(self, load: Callable[[], Automation]) -> None:
        self._load = load
        self._loaded: Automation | None = None
        self._request: Any = None

    @property
    def _automation(self) -> Automation:
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded

    def windows(self, process: int, handles: Sequence[int]) -> list[UiaElement]:
        """The top-level elements of a program: its windows, and its menus and other popups."""
        client = self._automation.client
        found = []
        for handle in handles:
            try:
                found.append(self._call(client.ElementFromHandle, handle))
            except (UiaElementGone, UiaProgramSilent):
                continue
        condition = self._call(client.CreatePropertyCondition, PROCESS_ID, process)
        root = self._call(client.GetRootElement)
        return found + _items(self._call(root.FindAll, CHILDREN, condition))

    def read(self, element: UiaElement) -> tuple[Mapping[int, Any], list[UiaElement]]:
        """The properties as they are now, and the children. Raises `UiaElementGone`, `UiaProgramSilent`."""
        updated = self._call(element.BuildUpdatedCache, self._cache_request())
        values = {number: self._call(updated.GetCachedPropertyValue, number) for number in PROPERTIES}
        return values, _items(self._call(updated.GetCachedChildren))

    def pattern(self, element: UiaElement, number: int, interface: str) -> Any:
        """A pattern of the element; None if it has none."""
        found = self._call(element.GetCurrentPattern, number)
        return found.QueryInterface(getattr(self._automation.interfaces, interface)) if found else None

    def do(self, function: Callable[..., R], *arguments: object) -> R:
        """A call of an element or pattern."""
        return self._call(function, *arguments)

    def _cache_request(self) -> Any:
        if self._request is None:
            request = self._automation.client.CreateCacheRequest()
            for number in PROPERTIES:
                request.AddProperty(number)
            request.TreeScope = ELEMENT | CHILDREN
            request.TreeFilter = self._automation.client.ControlViewCondition
            self._request = request
        return self._request

    def _call(self, function: Callable[..., R], *arguments: object) -> R:
        try:
            return function(*arguments)
        except self._automation.error as error:
            code = getattr(error, "hresult", 0)
            raise (UiaProgramSilent if code == TIMEOUT else UiaElementGone) from None


def _items(array: Any) -> list[UiaElement]:
    """Of an IUIAutomationElementArray, which is null if it is empty."""
    return [array.GetElement(index) for index in range(array.Length)] if array else []
