"""What the kernel lets a process give up for good: files (Landlock), system calls (seccomp), capabilities.
Applies the sandbox inside a command's process; which folders are allowed is in `sandbox.py`.

Only the standard library, and little of it: the keeper loads this before a sandboxed command.
"""

# ruff: noqa: PTH112

from __future__ import annotations

import ctypes
import os
import struct
import sys

_NO_NEW_PRIVILEGES = 38
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_READ, _LIST = 1 | 4 | 8, 8
_SCOPES_SINCE = 6
_SECCOMP, _FILTER_MODE, _FILTER_LINE = 22, 2, 8
_FILE_RIGHTS = 1 | 2 | 4 | 16384 | 32768
_DROP_FROM_BOUNDS, _MOST_CAPABILITIES, _CAPABILITY_VERSION = 24, 64, 0x20080522


def drop_capabilities() -> None:
    """Give up the powers of root, which would reach devices, other processes and the kernel's memory."""
    libc = _libc()
    for number in range(_MOST_CAPABILITIES):
        libc.prctl(_DROP_FROM_BOUNDS, number, 0, 0, 0)  # fails for everyone but root, who alone needs it
    none = bytes(24)
    if libc.capset(struct.pack("Ii", _CAPABILITY_VERSION, 0), none):
        raise OSError(ctypes.get_errno(), "the sandbox cannot be entered")


def restrict(read: list[str], write: list[str], names: list[str], tcp: bool) -> None:
    """Give up for good all but reading `read`, changing `write`, listing `names`, and maybe the network."""
    libc = _libc()
    version = landlock_version()
    rights = (1 << (13 + (version >= 2) + (version >= 3) + (version >= 5))) - 1
    network = 0 if tcp or version < 4 else 3
    scopes = 3 if version >= _SCOPES_SINCE else 0
    attributes = struct.pack("QQQ", rights, network, scopes)[
        : 24 if version >= 6 else 16 if version >= 4 else 8
    ]
    rules = libc.syscall(_CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint(0))
    if rules < 0:
        raise OSError(ctypes.get_errno(), "the sandbox cannot be made")
    for paths, granted in ((names, _LIST), (read, _READ), (write, rights)):
        for path in paths:
            _grant(libc, rules, path, granted & rights)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if libc.syscall(_RESTRICT, rules, ctypes.c_uint(0)):
        raise OSError(ctypes.get_errno(), "the sandbox cannot be entered")
    os.close(rules)


def isolate() -> None:
    """Give up the abstract Unix sockets of others and signals to them, and nothing else."""
    if landlock_version() < _SCOPES_SINCE:
        return
    libc = _libc()
    attributes = struct.pack("QQQ", 0, 0, 3)
    rules = libc.syscall(_CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint(0))
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if rules < 0 or libc.syscall(_RESTRICT, rules, ctypes.c_uint(0)):
        raise OSError(ctypes.get_errno(), "the sandbox cannot be entered")
    os.close(rules)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("lines", ctypes.c_char_p))


def load_filter(code: bytes) -> None:
    """Have the kernel refuse calls from now on, for this process and all that come of it."""
    libc = _libc()
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    program = _Program(len(code) // _FILTER_LINE, code)
    if libc.prctl(_SECCOMP, _FILTER_MODE, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "the sandbox cannot be entered")


def landlock_version() -> int:
    """What the kernel offers; below 1 when nothing."""
    if not sys.platform.startswith("linux"):
        return 0
    version: int = _libc().syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(1))
    return version


def _grant(libc: ctypes.CDLL, rules: int, path: str, granted: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # gone since, or never there
    try:
        wanted = granted if os.path.isdir(path) else granted & _FILE_RIGHTS
        if libc.syscall(_ADD, rules, 1, struct.pack("=Qi", wanted, place), ctypes.c_uint(0)):
            raise OSError(ctypes.get_errno(), "the sandbox cannot be made", path)
    finally:
        os.close(place)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
