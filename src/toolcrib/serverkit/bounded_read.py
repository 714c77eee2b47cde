"""Reads files up to a limit that counts what is read: devices, pipes and growing files have no true size."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_PIECE = 1 << 20


def read_bounded(path: Path | str, limit: int, *, pipes: bool = False, links: bool = True) -> bytes:
    """The content of a regular file; raises `OSError`, also if there is more than `limit` bytes.

    With `pipes`, a pipe is read as well: that is how a shell passes the output of a command. Without `links`,
    a symbolic link is refused.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if links else os.O_NOFOLLOW)
    descriptor = os.open(path, flags)  # not blocking: a pipe without a writer would be waited for
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode) and not (pipes and stat.S_ISFIFO(mode)):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        os.set_blocking(descriptor, True)
        return _read(descriptor, limit, str(path))
    finally:
        os.close(descriptor)


def read_bounded_text(path: Path | str, limit: int, *, encoding: str = "utf-8", pipes: bool = False) -> str:
    """The same as text with `\\n` as line break; raises `UnicodeDecodeError` too."""
    text = read_bounded(path, limit, pipes=pipes).decode(encoding)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _read(descriptor: int, limit: int, path: str) -> bytes:
    pieces: list[bytes] = []
    left = limit + 1
    while left and (piece := os.read(descriptor, min(left, _PIECE))):
        pieces.append(piece)
        left -= len(piece)
    if not left:
        raise OSError(errno.EFBIG, f"it is larger than {_size(limit)}", path)
    return b"".join(pieces)


def _size(limit: int) -> str:
    return f"{limit // 1_000_000} MB" if limit >= 1_000_000 else f"{limit:,} bytes"
