"""The walk for systems without `openat2`: one name at a time, never following a link unseen.

Each step opens one name below the descriptor of the step before with `O_NOFOLLOW`. A link is read, and its
names take its place in the path; `..` goes back to the descriptor it came from. So nothing outside can be
reached, whatever is swapped meanwhile: the worst that a swap does is to lead somewhere else inside.
"""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Sequence

from toolcrib.serverkit.confined.opening import FOLDER, Escape

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
