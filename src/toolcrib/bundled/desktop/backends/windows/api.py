"""The functions of the Windows API that are used, with their types; loaded when they are first used.

Without declared types, ctypes would cut handles to 32 bits.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from ctypes import POINTER, c_int16, c_int32, c_size_t, c_ssize_t, c_uint16, c_uint32, c_void_p, c_wchar_p
from dataclasses import dataclass
from typing import Any

from toolcrib.bundled.desktop.backends.windows.structures import (
    InputRecord,
    MonitorInfo,
    NativePoint,
    NativeRect,
)
from toolcrib.serverkit.context import ToolFailure

BOOL, INT, UINT, DWORD, HANDLE, TEXT = c_int32, c_int32, c_uint32, c_uint32, c_void_p, c_wchar_p
_function_type: Any = getattr(ctypes, "WINFUNCTYPE", ctypes.CFUNCTYPE)
WindowCallback: Any = _function_type(BOOL, HANDLE, c_ssize_t)
MonitorCallback: Any = _function_type(BOOL, HANDLE, HANDLE, POINTER(NativeRect), c_ssize_t)
Prototype = tuple[Any, Sequence[Any]]

PROTOTYPES: Mapping[str, Mapping[str, Prototype]] = {
    "user32": {
        "BringWindowToTop": (BOOL, [HANDLE]),
        "ClientToScreen": (BOOL, [HANDLE, POINTER(NativePoint)]),
        "CloseClipboard": (BOOL, []),
        "CloseDesktop": (BOOL, [HANDLE]),
        "EmptyClipboard": (BOOL, []),
        "EnumClipboardFormats": (UINT, [UINT]),
        "EnumDisplayMonitors": (BOOL, [HANDLE, c_void_p, MonitorCallback, c_ssize_t]),
        "EnumWindows": (BOOL, [WindowCallback, c_ssize_t]),
        "FindWindowExW": (HANDLE, [HANDLE, HANDLE, TEXT, TEXT]),
        "GetClassNameW": (INT, [HANDLE, TEXT, INT]),
        "GetClientRect": (BOOL, [HANDLE, POINTER(NativeRect)]),
        "GetClipboardData": (HANDLE, [UINT]),
        "GetCursorPos": (BOOL, [POINTER(NativePoint)]),
        "GetDC": (HANDLE, [HANDLE]),
        "GetDoubleClickTime": (UINT, []),
        "GetForegroundWindow": (HANDLE, []),
        "GetMonitorInfoW": (BOOL, [HANDLE, POINTER(MonitorInfo)]),
        "GetParent": (HANDLE, [HANDLE]),
        "GetSystemMetrics": (INT, [INT]),
        "GetWindowLongW": (c_int32, [HANDLE, INT]),
        "GetWindowRect": (BOOL, [HANDLE, POINTER(NativeRect)]),
        "GetWindowTextLengthW": (INT, [HANDLE]),
        "GetWindowTextW": (INT, [HANDLE, TEXT, INT]),
        "GetWindowThreadProcessId": (DWORD, [HANDLE, POINTER(c_uint32)]),
        "IsIconic": (BOOL, [HANDLE]),
        "IsWindow": (BOOL, [HANDLE]),
        "IsWindowVisible": (BOOL, [HANDLE]),
        "IsZoomed": (BOOL, [HANDLE]),
        "MapVirtualKeyW": (UINT, [UINT, UINT]),
        "OpenClipboard": (BOOL, [HANDLE]),
        "OpenInputDesktop": (HANDLE, [DWORD, BOOL, DWORD]),
        "PostMessageW": (BOOL, [HANDLE, UINT, c_size_t, c_ssize_t]),
        "PrintWindow": (BOOL, [HANDLE, HANDLE, UINT]),
        "RegisterClipboardFormatW": (UINT, [TEXT]),
        "ReleaseDC": (INT, [HANDLE, HANDLE]),
        "SendInput": (UINT, [UINT, POINTER(InputRecord), INT]),
        "SendMessageTimeoutW": (
            c_ssize_t,
            [HANDLE, UINT, c_size_t, c_ssize_t, UINT, UINT, POINTER(c_size_t)],
        ),
        "SetClipboardData": (HANDLE, [UINT, HANDLE]),
        "SetCursorPos": (BOOL, [INT, INT]),
        "SetForegroundWindow": (BOOL, [HANDLE]),
        "SetThreadDpiAwarenessContext": (HANDLE, [HANDLE]),
        "SetWindowPos": (BOOL, [HANDLE, HANDLE, INT, INT, INT, INT, UINT]),
        "ShowWindowAsync": (BOOL, [HANDLE, INT]),
        "VkKeyScanW": (c_int16, [c_uint16]),
        "WindowFromPoint": (HANDLE, [NativePoint]),
    },
    "gdi32": {
        "BitBlt": (BOOL, [HANDLE, INT, INT, INT, INT, HANDLE, INT, INT, DWORD]),
        "CreateCompatibleBitmap": (HANDLE, [HANDLE, INT, INT]),
        "CreateCompatibleDC": (HANDLE, [HANDLE]),
        "DeleteDC": (BOOL, [HANDLE]),
        "DeleteObject": (BOOL, [HANDLE]),
        "GetDIBits": (INT, [HANDLE, HANDLE, UINT, UINT, c_void_p, c_void_p, UINT]),
        "SelectObject": (HANDLE, [HANDLE, HANDLE]),
    },
    "kernel32": {
        "CloseHandle": (BOOL, [HANDLE]),
        "GetCurrentProcess": (HANDLE, []),
        "GlobalAlloc": (HANDLE, [UINT, c_size_t]),
        "GlobalFree": (HANDLE, [HANDLE]),
        "GlobalLock": (c_void_p, [HANDLE]),
        "GlobalSize": (c_size_t, [HANDLE]),
        "GlobalUnlock": (BOOL, [HANDLE]),
        "OpenProcess": (HANDLE, [DWORD, BOOL, DWORD]),
        "QueryFullProcessImageNameW": (BOOL, [HANDLE, DWORD, TEXT, POINTER(c_uint32)]),
        "TerminateProcess": (BOOL, [HANDLE, UINT]),
    },
    "advapi32": {
        "GetSidSubAuthority": (POINTER(c_uint32), [c_void_p, DWORD]),
        "GetSidSubAuthorityCount": (POINTER(ctypes.c_uint8), [c_void_p]),
        "GetTokenInformation": (BOOL, [HANDLE, INT, c_void_p, DWORD, POINTER(c_uint32)]),
        "OpenProcessToken": (BOOL, [HANDLE, DWORD, POINTER(c_void_p)]),
    },
    "shell32": {
        "DragQueryFileW": (UINT, [HANDLE, UINT, TEXT, UINT]),
        "ShellExecuteW": (HANDLE, [HANDLE, TEXT, TEXT, TEXT, TEXT, INT]),
    },
    "dwmapi": {"DwmGetWindowAttribute": (c_int32, [HANDLE, DWORD, c_void_p, DWORD])},
    "shcore": {"GetDpiForMonitor": (c_int32, [HANDLE, INT, POINTER(c_uint32), POINTER(c_uint32)])},
}


@dataclass(frozen=True)
class WindowsApi:
    user32: Any
    gdi32: Any
    kernel32: Any
    advapi32: Any
    shell32: Any
    dwmapi: Any
    shcore: Any


def load_api() -> WindowsApi:
    """Raises `ToolFailure` on other systems and on Windows before 10."""
    try:
        return WindowsApi(**{name: _library(name, functions) for name, functions in PROTOTYPES.items()})
    except (OSError, AttributeError) as error:
        raise ToolFailure(
            f"This is no Windows 10 or later: {error}.", "Use the backend of this system."
        ) from None


def _library(name: str, functions: Mapping[str, Prototype]) -> Any:
    load: Any = ctypes.__dict__.get("WinDLL", _no_library)
    library = load(name, use_last_error=True)
    for function, (result, arguments) in functions.items():
        found = getattr(library, function)
        found.restype, found.argtypes = result, list(arguments)
    return library


def _no_library(name: str, *, use_last_error: bool) -> Any:
    raise OSError(f"{name} is missing")
