"""Unix sockets: addresses for long paths, and the user and process at the other end."""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolcrib.config.paths import MAX_SOCKET_BYTES

_LOCAL_PEERCRED = 0x001
_SOL_LOCAL = 0
_XUCRED = struct.Struct("IIh")
"""The beginning of macOS's `struct xucred`: version, user, number of groups."""


def peer_uid(connection: socket.socket) -> int | None:
    """The user at the other end; None if the system does not report it."""
    try:
        if sys.platform.startswith("linux"):
            credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            return int(struct.unpack("3i", credentials)[1])
        if sys.platform == "darwin":
            data = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, 128)
            return int(_XUCRED.unpack_from(data)[1])
    except OSError:
        return None
    return None


def peer_pid(connection: socket.socket) -> int | None:
    """The process that connected; None if the system does not report it, 0 for one outside this container."""
    if not sys.platform.startswith("linux"):
        return None
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", credentials)[0])


def is_trusted(connection: socket.socket) -> bool:
    """True unless the other end is known to be another user; root can read the home anyway."""
    uid = peer_uid(connection)
    return uid is None or uid in (os.getuid(), 0)


@contextmanager
def address_of(path: Path) -> Iterator[str]:
    """The address to bind or connect to while the block runs; a long path is opened by its folder (Linux)."""
    if len(os.fsencode(path)) <= MAX_SOCKET_BYTES:
        yield os.fspath(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
