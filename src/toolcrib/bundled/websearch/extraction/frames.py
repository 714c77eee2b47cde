"""Messages between the server and an extraction process: a length, a JSON header, a length, raw bytes."""

from __future__ import annotations

import json
import struct
from typing import Any

LENGTHS = struct.Struct(">II")


def pack(header: dict[str, Any], body: bytes = b"") -> bytes:
    """One message."""
    encoded = json.dumps(header).encode()
    return LENGTHS.pack(len(encoded), len(body)) + encoded + body


def unpack_header(data: bytes) -> dict[str, Any]:
    """The header of a message."""
    header: dict[str, Any] = json.loads(data)
    return header
