"""The protocol of the local socket: lines of JSON, their size limits, and who owns the other end.

    → {"token": "…"}                       once, before anything else
    → {"id": 1, "operation": "servers", "params": {…}}
    ← {"id": 1, "event": {…}}              any number of them
    ← {"id": 1, "result": …}               or
    ← {"id": 1, "error": {"kind", "message", "hint", …}}

The host sends `{"hello": {"protocol", "version", "pid"}}` first, so that a client knows which host
it has reached. The token is in a file beside the socket, which sandboxed programs cannot read.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from toolcrib.config.paths import MAX_SOCKET_BYTES
from toolcrib.errors import UsageError

_LOCAL_PEERCRED = 0x001
_SOL_LOCAL = 0
_XUCRED = struct.Struct("IIh")
"""The beginning of macOS's `struct xucred`: version, user, number of groups."""

PROTOCOL = 2
MAX_REQUEST = 64 * 1024 * 1024
"""Bytes per request; a call's arguments may contain a file."""
MAX_ANSWER = 512 * 1024 * 1024
"""Bytes per answer; a result may contain screenshots, and escaping makes it longer."""


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


def encode(message: Mapping[str, Any]) -> bytes:
    """Encode a message as one line; raises `ValueError` if it is no JSON at all."""
    return encode_value(message) + b"\n"


def encode_value(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # Lone surrogates, which servers can send.
        return json.dumps(value, separators=(",", ":")).encode()
    except (ValueError, RecursionError):  # Numbers of many thousand digits, or deep nesting.
        from toolcrib.serverkit.encoding import encode as encode_odd

        return encode_odd(value)


def decode(line: bytes) -> dict[str, Any]:
    """Decode the message of a line; raises `UsageError`."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError("The line is not JSON.") from None
    if not isinstance(message, dict):
        raise UsageError("The line is not an object.")
    return message
