"""Integrity levels: Windows drops input to programs that have a higher level than ours."""

from __future__ import annotations

import ctypes

from toolcrib.bundled.desktop.backend import Problem
from toolcrib.bundled.desktop.backends.windows.api import WindowsApi
from toolcrib.bundled.desktop.backends.windows.structures import SidAndAttributes
from toolcrib.serverkit.context import ToolFailure

LOW, MEDIUM, HIGH, SYSTEM = 0x1000, 0x2000, 0x3000, 0x4000
QUERY_LIMITED_INFORMATION = 0x1000
TOKEN_QUERY = 0x0008
TOKEN_INTEGRITY_LEVEL = 25
LABEL_SIZE = 256
READ_OBJECTS = 1


def missing_rights(api: WindowsApi) -> list[Problem]:
    problems = []
    level = own_level(api)
    if level is not None and level < HIGH:
        problems.append(
            Problem(
                "Programs that run as administrator cannot be controlled.",
                "Start Toolcrib as administrator if you need them.",
                fatal=False,
            )
        )
    if not _input_desktop_open(api):
        problems.append(
            Problem("The screen is locked or shows a secure dialog.", "Unlock it before use.", fatal=False)
        )
    return problems


def own_level(api: WindowsApi) -> int | None:
    return _level(api, api.kernel32.GetCurrentProcess())


def level_of(api: WindowsApi, process: int) -> int | None:
    """None if it cannot be read."""
    handle = api.kernel32.OpenProcess(QUERY_LIMITED_INFORMATION, 0, process)
    if not handle:
        return None
    try:
        return _level(api, handle)
    finally:
        api.kernel32.CloseHandle(handle)


def require_control(api: WindowsApi, process: int | None) -> None:
    """Raises `ToolFailure` if Windows would drop input to this program, or shows its lock screen."""
    if not _input_desktop_open(api):
        raise ToolFailure("The screen is locked or shows a secure dialog.", "Ask the user to unlock it.")
    if process is None:
        return
    own, other = own_level(api), level_of(api, process)
    if own is not None and other is not None and other > own:
        raise ToolFailure(
            "This program runs as administrator, so Windows blocks input to it.",
            "Start Toolcrib as administrator.",
        )


def _level(api: WindowsApi, process: int) -> int | None:
    token = ctypes.c_void_p()
    if not api.advapi32.OpenProcessToken(process, TOKEN_QUERY, ctypes.byref(token)):
        return None
    try:
        label = ctypes.create_string_buffer(LABEL_SIZE)
        used = ctypes.c_uint32()
        size = ctypes.byref(used)
        if not api.advapi32.GetTokenInformation(token, TOKEN_INTEGRITY_LEVEL, label, LABEL_SIZE, size):
            return None
        sid = SidAndAttributes.from_buffer(label).sid
        count = api.advapi32.GetSidSubAuthorityCount(sid)[0]
        return int(api.advapi32.GetSidSubAuthority(sid, count - 1)[0])
    finally:
        api.kernel32.CloseHandle(token)


def _input_desktop_open(api: WindowsApi) -> bool:
    desktop = api.user32.OpenInputDesktop(0, 0, READ_OBJECTS)
    if not desktop:
        return False
    api.user32.CloseDesktop(desktop)
    return True
