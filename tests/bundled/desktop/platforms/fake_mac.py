# ruff: noqa: N802 - the names are those of the system
"""A Mac at the boundary of pyobjc: windows, elements, events and a pasteboard in memory.

Names, argument counts, output arguments and constants are those recorded from pyobjc's own metadata in
`pyobjc.json`: a call that pyobjc would not accept fails here too.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from toolcrib.bundled.desktop.backends.macos.frameworks import Frameworks

RECORDED = json.loads(Path(__file__).with_name("pyobjc.json").read_text())
MISSING, INVALID, SILENT, UNSUPPORTED = -25212, -25202, -25204, -25205


@dataclass(frozen=True)
class AXValueRef:
    kind: int
    value: Any


@dataclass(eq=False)
class AxNode:
    """An AXUIElement of the fake; equal to itself, as macOS compares what elements stand for."""

    process: int
    attributes: dict[str, Any] = field(default_factory=dict)
    settable: set[str] = field(default_factory=set)
    actions: dict[str, Callable[[], None]] = field(default_factory=dict)
    error: int = 0
    """What every call about it answers instead."""

    def add(self, *children: AxNode) -> AxNode:
        for child in children:
            child.attributes["AXParent"] = self
        self.attributes["AXChildren"] = [*self.attributes.get("AXChildren", ()), *children]
        return self


def node(process: int, role: str, rect: tuple[int, int, int, int] | None = None, **more: Any) -> AxNode:
    attributes: dict[str, Any] = {"AXRole": role, **{f"AX{name}": value for name, value in more.items()}}
    if rect is not None:
        attributes["AXPosition"] = AXValueRef(1, (float(rect[0]), float(rect[1])))
        attributes["AXSize"] = AXValueRef(2, (float(rect[2]), float(rect[3])))
    return AxNode(process, attributes)


@dataclass
class MacWindow:
    number: int
    process: int
    title: str
    rect: tuple[int, int, int, int]
    layer: int = 0
    on_screen: bool = True
    alpha: float = 1.0

    def info(self) -> dict[str, Any]:
        x, y, width, height = self.rect
        return {
            "kCGWindowNumber": self.number,
            "kCGWindowOwnerPID": self.process,
            "kCGWindowOwnerName": f"Program {self.process}",
            "kCGWindowName": self.title,
            "kCGWindowBounds": {"X": x, "Y": y, "Width": width, "Height": height},
            "kCGWindowLayer": self.layer,
            "kCGWindowAlpha": self.alpha,
            "kCGWindowIsOnscreen": self.on_screen,
        }


class FakeModule:
    """Functions and constants by the names that pyobjc has."""

    def __init__(self, functions: object, **more: Any) -> None:
        self._functions = functions
        self._more = more

    def __getattr__(self, name: str) -> Any:
        if name in self._more:
            return self._more[name]
        if name in RECORDED["numbers"]:
            return RECORDED["numbers"][name]
        if name in RECORDED["strings"]:
            return name
        if name in RECORDED["functions"] and hasattr(self._functions, name):
            return _checked(name, getattr(self._functions, name))
        raise AttributeError(name)


def _checked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    recorded = RECORDED["functions"][name]

    def call(*arguments: Any) -> Any:
        enough = len(arguments) >= recorded["arguments"] if recorded["variadic"] else None
        assert enough or len(arguments) == recorded["arguments"], f"{name} takes {recorded['arguments']}"
        assert all(arguments[index] is None for index in recorded["out"]), f"{name} returns its outputs"
        return function(*(each for index, each in enumerate(arguments) if index not in recorded["out"]))

    return call


@dataclass
class FakeMac:
    windows: list[MacWindow] = field(default_factory=list)
    """From the topmost to the lowest, as Quartz lists them."""
    applications: dict[int, AxNode] = field(default_factory=dict)
    displays: dict[int, tuple[tuple[int, int, int, int], float]] = field(
        default_factory=lambda: {1: ((0, 0, 1440, 900), 2.0)}
    )
    focused: int | None = None
    trusted: bool = True
    may_record: bool = True
    events: list[dict[str, Any]] = field(default_factory=list)
    pasteboard: dict[str, bytes] = field(default_factory=dict)
    activated: list[int] = field(default_factory=list)
    ended: list[tuple[int, bool]] = field(default_factory=list)
    image: Callable[[Any, int, int, int], Any] | None = None
    requests: int = 0
    """Questions about elements so far."""
    pools: int = 0

    def frameworks(self) -> Frameworks:
        quartz = FakeModule(
            QuartzFunctions(self),
            CGPointMake=lambda x, y: SimpleNamespace(x=x, y=y),
            CGRectMake=_rect,
            CGRectNull=_rect(float("inf"), float("inf"), 0, 0),
        )
        services = FakeModule(
            AxFunctions(self), AXValueRef=AXValueRef, AXValueCreate=AXValueRef, AXValueGetValue=_value
        )
        appkit = SimpleNamespace(
            NSRunningApplication=SimpleNamespace(runningApplicationWithProcessIdentifier_=self._running),
            NSPasteboard=SimpleNamespace(generalPasteboard=lambda: Pasteboard(self.pasteboard)),
            NSBitmapImageRep=SimpleNamespace(imageRepWithData_=Picture),
            NSData=SimpleNamespace(dataWithBytes_length_=lambda data, size: data[:size]),
        )
        return Frameworks(quartz, services, appkit, self._pool)

    @contextlib.contextmanager
    def _pool(self) -> Iterator[None]:
        self.pools += 1
        yield

    def _running(self, process: int) -> Any:
        if process not in {window.process for window in self.windows}:
            return None
        return SimpleNamespace(
            activateWithOptions_=lambda options: self._activate(process),
            localizedName=lambda: f"Program {process}",
            bundleIdentifier=lambda: f"org.example.program{process}",
            executableURL=lambda: SimpleNamespace(
                path=lambda: f"/Applications/P{process}.app/Contents/MacOS/P"
            ),
            terminate=lambda: bool(self.ended.append((process, False))) or True,
            forceTerminate=lambda: bool(self.ended.append((process, True))) or True,
        )

    def _activate(self, process: int) -> bool:
        self.activated.append(process)
        self.focused = process
        return True

    def bring_forward(self, window: MacWindow) -> None:
        self.windows.remove(window)
        self.windows.insert(0, window)


class AxFunctions:
    def __init__(self, mac: FakeMac) -> None:
        self._mac = mac

    def AXIsProcessTrusted(self) -> bool:
        return self._mac.trusted

    def AXUIElementCreateApplication(self, process: int) -> AxNode:
        return self._mac.applications.get(process, AxNode(process, error=INVALID))

    def AXUIElementCreateSystemWide(self) -> AxNode:
        system = AxNode(0)
        if self._mac.focused is not None:
            system.attributes["AXFocusedApplication"] = AxNode(self._mac.focused)
        return system

    def AXUIElementSetMessagingTimeout(self, element: AxNode, seconds: float) -> int:
        assert seconds > 0
        return 0

    def AXUIElementGetPid(self, element: AxNode) -> tuple[int, int]:
        return 0, element.process

    def AXUIElementCopyElementAtPosition(self, system: AxNode, x: float, y: float) -> tuple[int, Any]:
        for window in self._mac.windows:
            left, top, width, height = window.rect
            if window.on_screen and left <= x < left + width and top <= y < top + height:
                return 0, AxNode(window.process)
        return MISSING, None

    def AXUIElementCopyAttributeValue(self, element: AxNode, name: str) -> tuple[int, Any]:
        self._mac.requests += 1
        if element.error:
            return element.error, None
        return (0, element.attributes[name]) if name in element.attributes else (MISSING, None)

    def AXUIElementCopyMultipleAttributeValues(
        self, element: AxNode, names: Sequence[str], options: int
    ) -> tuple[int, Any]:
        self._mac.requests += 1
        if element.error:
            return element.error, None
        return 0, [element.attributes.get(name, AXValueRef(5, UNSUPPORTED)) for name in names]

    def AXUIElementSetAttributeValue(self, element: AxNode, name: str, value: Any) -> int:
        if element.error:
            return element.error
        if name not in element.settable:
            return UNSUPPORTED
        element.attributes[name] = value
        element.actions.get(f"set {name}", lambda: None)()
        return 0

    def AXUIElementIsAttributeSettable(self, element: AxNode, name: str) -> tuple[int, bool]:
        return element.error, name in element.settable

    def AXUIElementCopyActionNames(self, element: AxNode) -> tuple[int, Any]:
        return element.error, [name for name in element.actions if name.startswith("AX")]

    def AXUIElementPerformAction(self, element: AxNode, action: str) -> int:
        if element.error:
            return element.error
        if action not in element.actions:
            return -25206
        element.actions[action]()
        return 0

    def AXValueGetType(self, value: AXValueRef) -> int:
        return value.kind


class QuartzFunctions:
    def __init__(self, mac: FakeMac) -> None:
        self._mac = mac

    def CGPreflightScreenCaptureAccess(self) -> bool:
        return self._mac.may_record

    def CGWindowListCopyWindowInfo(self, option: int, window: int) -> list[dict[str, Any]]:
        assert window == 0
        shown = self._mac.windows if not option & 1 else [w for w in self._mac.windows if w.on_screen]
        return [each.info() for each in shown]

    def CGWindowListCreateImage(self, area: Any, option: int, window: int, options: int) -> Any:
        return self._mac.image(area, option, window, options) if self._mac.image else None

    def CGEventCreateMouseEvent(self, source: Any, kind: int, at: Any, button: int) -> dict[str, Any]:
        return {"kind": kind, "at": (at.x, at.y), "button": button}

    def CGEventCreateKeyboardEvent(self, source: Any, code: int, pressed: bool) -> dict[str, Any]:
        assert 0 <= code < 1 << 16
        return {"code": code, "pressed": pressed}

    def CGEventKeyboardSetUnicodeString(self, event: dict[str, Any], length: int, text: str) -> None:
        assert length == len(text.encode("utf-16-le")) // 2
        event["text"] = text

    def CGEventSetFlags(self, event: dict[str, Any], flags: int) -> None:
        event["flags"] = flags

    def CGEventSetIntegerValueField(self, event: dict[str, Any], name: int, value: int) -> None:
        assert name == RECORDED["numbers"]["kCGMouseEventClickState"]
        event["clicks"] = value

    def CGEventCreateScrollWheelEvent(
        self, source: Any, unit: int, count: int, *wheels: int
    ) -> dict[str, Any]:
        assert count == len(wheels)
        return {"unit": unit, "wheels": wheels}

    def CGEventPost(self, tap: int, event: dict[str, Any]) -> None:
        assert tap == RECORDED["numbers"]["kCGHIDEventTap"]
        self._mac.events.append(event)

    def CGGetActiveDisplayList(self, most: int) -> tuple[int, tuple[int, ...], int]:
        return 0, tuple(self._mac.displays), len(self._mac.displays)

    def CGDisplayBounds(self, display: int) -> Any:
        return _rect(*self._mac.displays[display][0])

    def CGDisplayCopyDisplayMode(self, display: int) -> int:
        return display

    def CGDisplayModeGetWidth(self, display: int) -> int:
        return self._mac.displays[display][0][2]

    def CGDisplayModeGetPixelWidth(self, display: int) -> int:
        (_, _, width, _), scale = self._mac.displays[display]
        return round(width * scale)

    def CGMainDisplayID(self) -> int:
        return next(iter(self._mac.displays))

    def CGImageGetWidth(self, image: Any) -> int:
        return int(image.width)

    def CGImageGetHeight(self, image: Any) -> int:
        return int(image.height)

    def CGImageGetBytesPerRow(self, image: Any) -> int:
        return int(image.row)

    def CGImageGetBitsPerPixel(self, image: Any) -> int:
        return 32

    def CGImageGetBitmapInfo(self, image: Any) -> int:
        return int(image.info)

    def CGImageGetDataProvider(self, image: Any) -> Any:
        return image

    def CGDataProviderCopyData(self, image: Any) -> bytes:
        return bytes(image.data)


class Pasteboard:
    def __init__(self, contents: dict[str, bytes]) -> None:
        self._contents = contents

    def types(self) -> list[str]:
        return list(self._contents)

    def dataForType_(self, name: str) -> bytes | None:
        return self._contents.get(name)

    def clearContents(self) -> int:
        self._contents.clear()
        return 1

    def setData_forType_(self, data: bytes, name: str) -> bool:
        self._contents[name] = data
        return True


class Picture:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def representationUsingType_properties_(self, kind: int, properties: dict[str, Any]) -> bytes:
        assert kind == 4
        return b"\x89PNG of " + self._data


def _rect(x: float, y: float, width: float, height: float) -> Any:
    return SimpleNamespace(origin=SimpleNamespace(x=x, y=y), size=SimpleNamespace(width=width, height=height))


def _value(value: AXValueRef, kind: int, out: None) -> tuple[bool, Any]:
    return (True, value.value) if value.kind == kind else (False, None)
