"""Who is at the other end of a local socket, as far as the operating system tells."""

from __future__ import annotations

import os
import socket
import struct
import sys

_LOCAL_PEERCRED = 0x001
_SOL_LOCAL = 0
_XUCRED = struct.Struct("IIh")
"""The beginning of macOS's `struct xucred`: version, user, number of groups."""


def peer_uid(connection: socket.socket) -> int | None:
    """The user at the other end; None where this system does not say."""
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
    """The process that connected; None where this system does not say, 0 for one of a system around ours."""
    if not sys.platform.startswith("linux"):
        return None
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", credentials)[0])


def is_trusted(connection: socket.socket) -> bool:
    """True unless the other end is known to be another user; root can read the home anyway."""
    uid = peer_uid(connection)
    return uid is None or uid in (os.getuid(), 0)
