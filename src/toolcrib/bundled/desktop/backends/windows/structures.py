"""Structures of the Windows API, with fields of the sizes that Windows has on every machine."""

from __future__ import annotations

import ctypes
from ctypes import Structure, Union, c_int32, c_size_t, c_uint16, c_uint32, c_void_p

from toolcrib.bundled.desktop.geometry import Rect

DEVICE_NAME = 32


class NativePoint(Structure):
    """POINT"""

    _fields_ = (("x", c_int32), ("y", c_int32))


class NativeRect(Structure):
    """RECT"""

    _fields_ = (("left", c_int32), ("top", c_int32), ("right", c_int32), ("bottom", c_int32))

    def to_rect(self) -> Rect:
        return Rect(self.left, self.top, self.right - self.left, self.bottom - self.top)


class MouseInput(Structure):
    """MOUSEINPUT"""

    _fields_ = (
        ("dx", c_int32),
        ("dy", c_int32),
        ("mouse_data", c_uint32),
        ("flags", c_uint32),
        ("time", c_uint32),
        ("extra_info", c_size_t),
    )


class KeyboardInput(Structure):
    """KEYBDINPUT"""

    _fields_ = (
        ("virtual_key", c_uint16),
        ("scan_code", c_uint16),
        ("flags", c_uint32),
        ("time", c_uint32),
        ("extra_info", c_size_t),
    )


class _InputUnion(Union):
    _fields_ = (("mouse", MouseInput), ("keyboard", KeyboardInput))


class InputRecord(Structure):
    """INPUT"""

    _anonymous_ = ("union",)
    _fields_ = (("kind", c_uint32), ("union", _InputUnion))


class MonitorInfo(Structure):
    """MONITORINFOEXW"""

    _fields_ = (
        ("size", c_uint32),
        ("monitor", NativeRect),
        ("work_area", NativeRect),
        ("flags", c_uint32),
        ("device", c_uint16 * DEVICE_NAME),
    )

    @property
    def device_name(self) -> str:
        return bytes(self.device).decode("utf-16-le", "replace").partition("\0")[0]


class BitmapHeader(Structure):
    """BITMAPINFOHEADER"""

    _fields_ = (
        ("size", c_uint32),
        ("width", c_int32),
        ("height", c_int32),
        ("planes", c_uint16),
        ("bits", c_uint16),
        ("compression", c_uint32),
        ("image_size", c_uint32),
        ("x_per_metre", c_int32),
        ("y_per_metre", c_int32),
        ("colours_used", c_uint32),
        ("colours_important", c_uint32),
    )


class SidAndAttributes(Structure):
    """SID_AND_ATTRIBUTES, which is all of TOKEN_MANDATORY_LABEL"""

    _fields_ = (("sid", c_void_p), ("attributes", c_uint32))


def mouse_record(flags: int, dx: int = 0, dy: int = 0, data: int = 0) -> InputRecord:
    record = InputRecord(kind=0)
    record.mouse = MouseInput(dx, dy, data & 0xFFFFFFFF, flags, 0, 0)
    return record


def key_record(virtual_key: int, scan_code: int, flags: int) -> InputRecord:
    record = InputRecord(kind=1)
    record.keyboard = KeyboardInput(virtual_key, scan_code, flags, 0, 0)
    return record


def sizeof(kind: type[Structure]) -> int:
    return ctypes.sizeof(kind)
