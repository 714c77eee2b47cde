# ruff: noqa: N802 - the names are those of the system
"""Windows at the boundary of its libraries: windows, input, memory and UI Automation in this process.

Each call is checked against the declared prototypes by ctypes itself, as it would be on Windows.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy

from toolcrib.bundled.desktop.backends.windows.api import PROTOTYPES, WindowsApi
from toolcrib.bundled.desktop.backends.windows.structures import InputRecord
from toolcrib.bundled.desktop.backends.windows.uia import Automation
from toolcrib.bundled.desktop.backends.windows.vocabulary import PROCESS_ID, RUNTIME_ID
from toolcrib.bundled.desktop.geometry import Point, Rect

FRAME = (8, 31, 8, 8)
"""Left, top, right and bottom of a window's frame."""


@dataclass
class NativeWindow:
    handle: int
    process: int
    title: str
    rect: Rect
    kind: str = "Notepad"
    style: int = 0
    visible: bool = True
    cloaked: bool = False
    minimised: bool = False
    hung: bool = False
    parent: int = 0
    children: dict[str, int] = field(default_factory=dict)
    answer: bool = True
    """Whether it becomes the foreground window when it is asked."""


class FakeLibrary:
    """Offers only what the prototypes declare, with arguments that ctypes accepts."""

    def __init__(self, name: str, functions: object) -> None:
        self._prototypes = PROTOTYPES[name]
        self._functions = functions

    def __getattr__(self, name: str) -> Any:
        _, kinds = self._prototypes[name]
        function = getattr(self._functions, name)

        def call(*arguments: Any) -> Any:
            assert len(arguments) == len(kinds), f"{name} takes {len(kinds)} arguments"
            for kind, argument in zip(kinds, arguments, strict=True):
                kind.from_param(argument)
            return function(*(getattr(each, "_obj", each) for each in arguments))

        return call


@dataclass
class FakeWindows:
    windows: list[NativeWindow] = field(default_factory=list)
    """From the topmost to the lowest, as EnumWindows lists them."""
    front: int = 0
    monitors: list[tuple[Rect, int]] = field(default_factory=lambda: [(Rect(0, 0, 1920, 1080), 96)])
    cursor: Point = field(default_factory=lambda: Point(0, 0))
    rounding: int = 0
    """By how many pixels an absolute move misses."""
    sent: list[tuple[Any, ...]] = field(default_factory=list)
    blocked: bool = False
    locked: bool = False
    swapped: bool = False
    levels: dict[int, int] = field(default_factory=dict)
    own_level: int = 0x2000
    clipboard: dict[int, int] = field(default_factory=dict)
    clipboard_busy: int = 0
    memory: dict[int, ctypes.Array[ctypes.c_char]] = field(default_factory=dict)
    formats: dict[str, int] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    objects: dict[int, Any] = field(default_factory=dict)
    selected: dict[int, int] = field(default_factory=dict)
    executed: list[tuple[Any, ...]] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    aware: list[int] = field(default_factory=list)
    on_execute: Callable[[], None] = lambda: None

    def api(self) -> WindowsApi:
        functions = Functions(self)
        return WindowsApi(**{name: FakeLibrary(name, functions) for name in PROTOTYPES})

    def find(self, handle: int) -> NativeWindow | None:
        return next((window for window in self.windows if window.handle == handle), None)

    def whole(self) -> Rect:
        rects = [rect for rect, _ in self.monitors]
        left, top = min(r.x for r in rects), min(r.y for r in rects)
        right, bottom = max(r.x + r.width for r in rects), max(r.y + r.height for r in rects)
        return Rect(left, top, right - left, bottom - top)

    def add(self, made: Any) -> int:
        handle = 1000 + len(self.objects)
        self.objects[handle] = made
        return handle

    def allocate(self, data: bytes) -> int:
        handle = 5000 + len(self.memory)
        self.memory[handle] = ctypes.create_string_buffer(data, len(data))
        return handle


class Functions:
    def __init__(self, system: FakeWindows) -> None:
        self._system = system

    def _window(self, handle: int) -> NativeWindow:
        found = self._system.find(handle)
        assert found is not None
        return found

    def EnumWindows(self, callback: Any, parameter: int) -> int:
        for window in list(self._system.windows):
            callback(window.handle, parameter)
        return 1

    def IsWindowVisible(self, handle: int) -> int:
        return int(self._window(handle).visible)

    def IsWindow(self, handle: int) -> int:
        return int(self._system.find(handle) is not None)

    def IsIconic(self, handle: int) -> int:
        return int(self._window(handle).minimised)

    def IsZoomed(self, handle: int) -> int:
        return 0

    def DwmGetWindowAttribute(self, handle: int, number: int, value: Any, size: int) -> int:
        assert (number, size) == (14, 4)
        value.value = int(self._window(handle).cloaked)
        return 0

    def GetWindowLongW(self, handle: int, index: int) -> int:
        assert index == -20
        return self._window(handle).style

    def GetWindowTextLengthW(self, handle: int) -> int:
        return len(self._window(handle).title)

    def GetWindowTextW(self, handle: int, buffer: Any, size: int) -> int:
        buffer.value = self._window(handle).title[: size - 1]
        return len(buffer.value)

    def GetClassNameW(self, handle: int, buffer: Any, size: int) -> int:
        buffer.value = self._window(handle).kind
        return len(buffer.value)

    def GetClientRect(self, handle: int, rect: Any) -> int:
        window = self._window(handle)
        rect.right, rect.bottom = window.rect.width, window.rect.height
        return 1

    def ClientToScreen(self, handle: int, point: Any) -> int:
        window = self._window(handle)
        point.x, point.y = point.x + window.rect.x, point.y + window.rect.y
        return 1

    def GetWindowRect(self, handle: int, rect: Any) -> int:
        inside, (left, top, right, bottom) = self._window(handle).rect, FRAME
        rect.left, rect.top = inside.x - left, inside.y - top
        rect.right, rect.bottom = inside.x + inside.width + right, inside.y + inside.height + bottom
        return 1

    def GetWindowThreadProcessId(self, handle: int, process: Any) -> int:
        process.value = self._window(handle).process
        return 1

    def FindWindowExW(self, parent: int, after: int | None, kind: str, title: str | None) -> int | None:
        return self._window(parent).children.get(kind)

    def GetParent(self, handle: int) -> int | None:
        return self._window(handle).parent or None

    def GetForegroundWindow(self) -> int:
        return self._system.front

    def SetForegroundWindow(self, handle: int) -> int:
        if self._window(handle).answer:
            self._system.front = handle
        return 1

    def BringWindowToTop(self, handle: int) -> int:
        return 1

    def ShowWindowAsync(self, handle: int, command: int) -> int:
        self._window(handle).minimised = {6: True, 9: False}[command]
        return 1

    def SetWindowPos(self, handle: int, after: int | None, *place: int) -> int:
        x, y, width, height, flags = place
        left, top, right, bottom = FRAME
        assert flags & 0x4
        self._window(handle).rect = Rect(x + left, y + top, width - left - right, height - top - bottom)
        return 1

    def PostMessageW(self, handle: int, message: int, first: int, second: int) -> int:
        assert message == 0x10
        self._system.windows.remove(self._window(handle))
        return 1

    def SendMessageTimeoutW(self, handle: int, message: int, *rest: Any) -> int:
        assert message == 0
        return int(not self._window(handle).hung)

    def WindowFromPoint(self, point: Any) -> int | None:
        for window in self._system.windows:
            if window.visible and not window.minimised and window.rect.contains(Point(point.x, point.y)):
                return window.children.get("point") or window.handle
        return None

    def EnumDisplayMonitors(self, context: Any, clip: Any, callback: Any, parameter: int) -> int:
        for number in range(len(self._system.monitors)):
            callback(number + 70, None, None, parameter)
        return 1

    def GetMonitorInfoW(self, monitor: int, info: Any) -> int:
        assert info.size == 104
        rect, _ = self._system.monitors[monitor - 70]
        info.monitor.left, info.monitor.top = rect.x, rect.y
        info.monitor.right, info.monitor.bottom = rect.x + rect.width, rect.y + rect.height
        info.flags = int(monitor == 70)
        name = rf"\\.\DISPLAY{monitor - 69}".encode("utf-16-le")
        ctypes.memmove(info.device, name, len(name))
        return 1

    def GetDpiForMonitor(self, monitor: int, kind: int, across: Any, down: Any) -> int:
        across.value = down.value = self._system.monitors[monitor - 70][1]
        return 0

    def GetSystemMetrics(self, number: int) -> int:
        whole = self._system.whole()
        known = {76: whole.x, 77: whole.y, 78: whole.width, 79: whole.height, 23: int(self._system.swapped)}
        return known[number]

    def GetDoubleClickTime(self) -> int:
        return 200

    def SetThreadDpiAwarenessContext(self, context: int) -> int:
        self._system.aware.append(context)
        return 1

    def SendInput(self, count: int, records: Sequence[InputRecord], size: int) -> int:
        assert size == ctypes.sizeof(InputRecord)
        if self._system.blocked:
            return 0
        for record in records[:count]:
            self._receive(record)
        return count

    def _receive(self, record: InputRecord) -> None:
        if record.kind == 1:
            key = record.keyboard
            self._system.sent.append(("key", key.virtual_key, key.scan_code, key.flags))
            return
        mouse = record.mouse
        if mouse.flags & 0x8000:
            self._system.cursor = self._pixel(mouse.dx, mouse.dy)
        data = ctypes.c_int32(mouse.mouse_data).value
        self._system.sent.append(("mouse", mouse.flags, data))

    def _pixel(self, x: int, y: int) -> Point:
        """How Windows turns the units of an absolute position into pixels."""
        whole, off = self._system.whole(), self._system.rounding
        return Point(whole.x + x * whole.width // 65536 + off, whole.y + y * whole.height // 65536)

    def GetCursorPos(self, point: Any) -> int:
        point.x, point.y = self._system.cursor.x, self._system.cursor.y
        return 1

    def SetCursorPos(self, x: int, y: int) -> int:
        self._system.cursor = Point(x, y)
        self._system.sent.append(("set cursor", x, y))
        return 1

    def MapVirtualKeyW(self, key: int, kind: int) -> int:
        assert kind == 0
        return key + 100

    def VkKeyScanW(self, character: int) -> int:
        """A German layout: z and y change places, @ needs AltGr."""
        known = {"s": 0x53, "z": 0x5A, "@": 0x651, "A": 0x141, "a": 0x41, "+": 0xBB, "!": 0x131}
        return known.get(chr(character), -1)

    def OpenInputDesktop(self, flags: int, inherit: int, access: int) -> int | None:
        return None if self._system.locked else 1

    def CloseDesktop(self, desktop: int) -> int:
        return 1

    def GetCurrentProcess(self) -> int:
        return -1

    def OpenProcess(self, access: int, inherit: int, process: int) -> int | None:
        return process + 10_000 if self._known(process) else None

    def _known(self, process: int) -> bool:
        return any(window.process == process for window in self._system.windows)

    def CloseHandle(self, handle: Any) -> int:
        return 1

    def OpenProcessToken(self, process: int, access: int, token: Any) -> int:
        token.value = 1 if process == -1 else process
        return 1

    def GetTokenInformation(self, token: Any, kind: int, label: Any, size: int, used: Any) -> int:
        assert kind == 25
        ctypes.memmove(label, ctypes.byref(ctypes.c_size_t(token.value)), ctypes.sizeof(ctypes.c_size_t))
        return 1

    def GetSidSubAuthorityCount(self, sid: int) -> Any:
        return (ctypes.c_uint8 * 1)(1)

    def GetSidSubAuthority(self, sid: int, index: int) -> Any:
        own = self._system.own_level
        level = own if sid == 1 else self._system.levels.get(sid - 10_000, 0x2000)
        return (ctypes.c_uint32 * 1)(level)

    def QueryFullProcessImageNameW(self, handle: int, flags: int, buffer: Any, size: Any) -> int:
        buffer.value = rf"C:\Windows\program{handle - 10_000}.exe"
        return 1

    def TerminateProcess(self, handle: int, code: int) -> int:
        self._system.ended.append(handle - 10_000)
        return 1

    def ShellExecuteW(self, *arguments: Any) -> int:
        self._system.executed.append(arguments)
        if arguments[2] == "missing":
            return 2
        self._system.on_execute()
        return 42

    def GetDC(self, window: int | None) -> int:
        return self._system.add("screen")

    def ReleaseDC(self, window: int | None, context: int) -> int:
        return int(bool(self._system.objects.pop(context)))

    def CreateCompatibleDC(self, context: int) -> int:
        return self._system.add("context")

    def CreateCompatibleBitmap(self, context: int, width: int, height: int) -> int:
        return self._system.add(numpy.zeros((height, width, 4), numpy.uint8))

    def SelectObject(self, context: int, made: int) -> int:
        before = self._system.selected.get(context, 0)
        self._system.selected[context] = made
        return before

    def DeleteObject(self, made: int) -> int:
        self._system.objects.pop(made)
        return 1

    def DeleteDC(self, context: int) -> int:
        self._system.objects.pop(context)
        return 1

    def BitBlt(self, context: int, x: int, y: int, width: int, height: int, *rest: int) -> int:
        _, left, top, operation = rest
        assert operation & 0x00CC0020
        bitmap = self._system.objects[self._system.selected[context]]
        bitmap[:, :, 0] = (left + numpy.arange(width)) % 256
        bitmap[:, :, 1] = ((top + numpy.arange(height)) % 256)[:, None]
        return 1

    def PrintWindow(self, window: int, context: int, flags: int) -> int:
        assert flags == 3
        self._system.objects[self._system.selected[context]][:] = 9
        return 1

    def GetDIBits(
        self, context: int, bitmap: int, first: int, rows: int, data: Any, header: Any, use: int
    ) -> int:
        assert self._system.selected[context] != bitmap, "the bitmap must not be selected"
        assert (header.size, header.bits, header.compression) == (40, 32, 0)
        pixels = self._system.objects[bitmap]
        assert (header.width, header.height) == (pixels.shape[1], -pixels.shape[0])
        ctypes.memmove(data, pixels.tobytes(), pixels.nbytes)
        return rows

    def OpenClipboard(self, owner: int | None) -> int:
        self._system.clipboard_busy -= 1
        return int(self._system.clipboard_busy < 0)

    def CloseClipboard(self) -> int:
        return 1

    def EmptyClipboard(self) -> int:
        self._system.clipboard.clear()
        return 1

    def EnumClipboardFormats(self, after: int) -> int:
        numbers = [0, *self._system.clipboard, 0]
        return numbers[numbers.index(after) + 1]

    def RegisterClipboardFormatW(self, name: str) -> int:
        return self._system.formats.setdefault(name, 0xC000 + len(self._system.formats))

    def GetClipboardData(self, number: int) -> int | None:
        return self._system.clipboard.get(number)

    def SetClipboardData(self, number: int, handle: int) -> int:
        self._system.clipboard[number] = handle
        return handle

    def GlobalAlloc(self, flags: int, size: int) -> int:
        assert flags == 2
        return self._system.allocate(bytes(size))

    def GlobalLock(self, handle: int) -> int:
        return ctypes.addressof(self._system.memory[handle])

    def GlobalUnlock(self, handle: int) -> int:
        return 0

    def GlobalSize(self, handle: int) -> int:
        return len(self._system.memory[handle])

    def GlobalFree(self, handle: int) -> int | None:
        self._system.memory.pop(handle)
        return None

    def DragQueryFileW(self, handle: int, index: int, buffer: Any, size: int) -> int:
        if index == 0xFFFFFFFF:
            return len(self._system.files)
        buffer.value = self._system.files[index]
        return len(buffer.value)


class FakeComError(Exception):
    def __init__(self, hresult: int) -> None:
        super().__init__(hresult)
        self.hresult = hresult


@dataclass
class UiaNode:
    values: dict[int, Any]
    children: list[UiaNode] = field(default_factory=list)
    patterns: dict[int, Any] = field(default_factory=dict)
    error: int = 0
    focused: int = 0

    def _check(self) -> None:
        if self.error:
            raise FakeComError(self.error)

    def BuildUpdatedCache(self, request: CacheRequest) -> CachedNode:
        self._check()
        assert request.TreeScope == 3
        return CachedNode(self, request)

    def GetCurrentPattern(self, number: int) -> Any:
        self._check()
        found = self.patterns.get(number)
        return SimpleNamespace(QueryInterface=lambda interface: found) if found else None

    def SetFocus(self) -> None:
        self._check()
        self.focused += 1


@dataclass
class CachedNode:
    node: UiaNode
    request: CacheRequest

    def GetCachedPropertyValue(self, number: int) -> Any:
        assert number in self.request.properties
        return self.node.values.get(number, False)

    def GetCachedChildren(self) -> Any:
        return ElementArray(self.node.children) if self.node.children else None


@dataclass
class ElementArray:
    items: list[UiaNode]

    @property
    def Length(self) -> int:
        return len(self.items)

    def GetElement(self, index: int) -> UiaNode:
        return self.items[index]


@dataclass
class CacheRequest:
    properties: set[int] = field(default_factory=set)
    TreeScope: int = 1
    TreeFilter: Any = None

    def AddProperty(self, number: int) -> None:
        self.properties.add(number)


@dataclass
class FakeAutomation:
    roots: dict[int, UiaNode]
    """Top-level elements by window handle; other popups have negative keys."""
    ControlViewCondition: str = "control view"

    def load(self) -> Automation:
        names = ("Invoke", "Toggle", "SelectionItem", "ExpandCollapse", "ScrollItem", "LegacyIAccessible")
        interfaces = {f"IUIAutomation{name}Pattern": name for name in (*names, "Value", "RangeValue", "Text")}
        return Automation(self, SimpleNamespace(**interfaces), FakeComError)

    def CreateCacheRequest(self) -> CacheRequest:
        return CacheRequest()

    def ElementFromHandle(self, handle: int) -> UiaNode:
        if handle not in self.roots:
            raise FakeComError(-2147220991)
        return self.roots[handle]

    def CreatePropertyCondition(self, number: int, value: int) -> tuple[int, int]:
        return number, value

    def GetRootElement(self) -> Any:
        return SimpleNamespace(FindAll=self._find)

    def _find(self, scope: int, condition: tuple[int, int]) -> ElementArray:
        assert (scope, condition[0]) == (2, PROCESS_ID)
        return ElementArray([each for each in self.roots.values() if each.values[PROCESS_ID] == condition[1]])


def runtime_id(node: UiaNode) -> tuple[int, ...]:
    return tuple(node.values[RUNTIME_ID])
