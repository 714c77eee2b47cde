"""Opens what lies beneath a folder: Linux resolves such paths itself (`openat2`), others one name at a time.

The walk never follows a link unseen. Each step opens one name below the descriptor of the step before with
`O_NOFOLLOW`. A link is read, and its names take its place in the path; `..` goes back to the descriptor it
came from. So nothing outside can be reached, whatever is swapped meanwhile: the worst that a swap does is to
lead somewhere else inside.
"""

from __future__ import annotations

import errno
import os
import platform
import struct
import sys
from collections import deque
from collections.abc import Sequence
from functools import cache, reduce
from operator import or_
from pathlib import Path
from typing import Any, Protocol

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
    import ctypes  # loaded by the first path

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
        import ctypes

        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(descriptor)


def _names_of(descriptor: int) -> tuple[str, ...]:
    return Path(f"/proc/self/fd/{descriptor}").readlink().parts


def _flags(*names: str) -> int:
    """Those of the names that the system knows; Windows, which is refused later, lacks most."""
    return reduce(or_, (getattr(os, name, 0) for name in names))


FOLDER = _flags("O_DIRECTORY", "O_CLOEXEC", "O_PATH")
"""Enough to resolve names in a folder; needs no right to list it where the system knows `O_PATH`."""
LISTING = _flags("O_RDONLY", "O_DIRECTORY", "O_CLOEXEC")
READING = _flags("O_RDONLY", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC")
"""Never waits: a pipe that nobody writes to opens at once and is then refused by its type."""


class Escape(Exception):
    """The path leads out of the folder."""


class Opener(Protocol):
    """Opens what lies beneath a folder.

    `parts` are names without a slash; `..` is allowed as long as it stays inside. Relative links are followed
    inside the folder. Raises `Escape` for anything that leads out, else the usual `OSError`.
    """

    def open(self, root: int, parts: Sequence[str], flags: int) -> tuple[int, tuple[str, ...]]:
        """A descriptor of an existing file or folder, and the names that lead to it without any link."""


def best_opener() -> Opener:
    """The kernel's own where it has one, else the walk."""

    return KernelOpener() if available() else WalkOpener()


MAX_LINKS = 40
"""As many as Linux follows."""
_PERHAPS_A_LINK = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)


class WalkOpener:
    """See `Opener`."""

    def open(self, root: int, parts: Sequence[str], flags: int) -> tuple[int, tuple[str, ...]]:
        """A descriptor of an existing file or folder, and the names that lead to it without any link."""
        walk = _Walk(root, parts)
        try:
            return walk.open(flags), tuple(walk.names)
        finally:
            walk.close()


class _Walk:
    def __init__(self, root: int, parts: Sequence[str]) -> None:
        self._trail = [os.dup(root)]
        self._ahead = deque(parts)
        self._links = 0
        self.names: list[str] = []

    def open(self, flags: int) -> int:
        while self._ahead:
            part = self._ahead.popleft()
            if part == "..":
                self._go_back()
                continue
            last = not self._ahead
            descriptor = self._open_one(part, flags if last else FOLDER)
            if descriptor is None:
                continue
            self.names.append(part)
            if last:
                return descriptor
            self._trail.append(descriptor)
        return os.open(".", flags | os.O_NOFOLLOW, dir_fd=self._trail[-1])

    def close(self) -> None:
        for descriptor in self._trail:
            os.close(descriptor)

    def _go_back(self) -> None:
        if not self.names:
            raise Escape
        self.names.pop()
        os.close(self._trail.pop())

    def _open_one(self, name: str, flags: int) -> int | None:
        """None when the name was a link, whose names now lie ahead."""
        folder = self._trail[-1]
        try:
            return os.open(name, flags | os.O_NOFOLLOW, dir_fd=folder)
        except OSError as error:
            target = link_target(folder, name) if error.errno in _PERHAPS_A_LINK else None
            if target is None:
                raise
        self._links += 1
        if self._links > MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        self._ahead.extendleft(reversed(inside(target)))
        return None


def link_target(folder: int, name: str) -> str | None:
    """Where a link points to; None when the name is no link or not there."""
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):
            return None
        raise


def inside(path: str) -> list[str]:
    """The names of a relative path; raises `Escape` for an absolute one."""
    if path.startswith("/"):
        raise Escape
    return [part for part in path.split("/") if part not in ("", ".")]
