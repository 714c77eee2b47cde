"""Linux resolves paths beneath a folder itself: `openat2` with `RESOLVE_BENEATH`."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from toolcrib.serverkit.confined.walk import FOLDER, Escape

OPENAT2 = 437
"""The number of the system call; the same on both of these machines."""
MACHINES = ("x86_64", "aarch64", "arm64")
RESOLVE_NO_MAGICLINKS = 0x02
RESOLVE_BENEATH = 0x08
MAX_TRIES = 64
"""The kernel asks to try again when something was renamed while it resolved `..`."""


@cache
def available() -> bool:
    """True when this kernel has the call, lets us use it, and tells what a descriptor stands for."""
    if not sys.platform.startswith("linux") or platform.machine() not in MACHINES:
        return False
    folder = os.open("/", FOLDER)
    try:
        os.close(_openat2(folder, b".", FOLDER))
        _names_of(folder)
    except OSError:
        return False
    finally:
        os.close(folder)
    return True


class KernelOpener:
    """See `Opener`."""

    def open(self, root: int, parts: Sequence[str], flags: int) -> tuple[int, tuple[str, ...]]:
        """A descriptor of an existing file or folder, and the names that lead to it without any link."""
        found = _resolve(root, parts, flags)
        try:
            above, names = _names_of(root), _names_of(found)
            if names[: len(above)] != above:  # one of the two was moved away just now
                raise Escape
        except BaseException:
            os.close(found)
            raise
        return found, names[len(above) :]


def _resolve(root: int, parts: Sequence[str], flags: int) -> int:
    path = os.fsencode("/".join(parts) or ".")
    for _ in range(MAX_TRIES):
        try:
            return _openat2(root, path, flags)
        except BlockingIOError as error:
            again = error
        except OSError as error:
            if error.errno == errno.EXDEV:
                raise Escape from error
            raise
    raise again


@cache
def _libc() -> Any:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    libc.syscall.argtypes = (
        ctypes.c_long,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_size_t,
    )
    return libc


def _openat2(folder: int, path: bytes, flags: int) -> int:
    how = struct.pack("QQQ", flags | os.O_CLOEXEC, 0, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS)
    descriptor = _libc().syscall(OPENAT2, folder, path, how, len(how))
    if descriptor < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(descriptor)


def _names_of(descriptor: int) -> tuple[str, ...]:
    return Path(f"/proc/self/fd/{descriptor}").readlink().parts
