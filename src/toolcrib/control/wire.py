"""Lines of JSON on the local socket: what they look like, and how long they may be.

    → {"token": "…"}                       once, before anything else
    → {"id": 1, "operation": "servers", "params": {…}}
    ← {"id": 1, "event": {…}}              any number of them
    ← {"id": 1, "result": …}               or
    ← {"id": 1, "error": {"kind", "message", "hint", …}}

The host speaks first, with `{"hello": {"protocol", "version", "pid"}}`, so that a client knows at once whom
it has reached. The token is in a file beside the socket, which sandboxed programs cannot read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from toolcrib.errors import UsageError

PROTOCOL = 2
MAX_REQUEST = 64 * 1024 * 1024
"""Bytes of one request; a call's arguments may hold a file."""
MAX_ANSWER = 512 * 1024 * 1024
"""Bytes of one answer; a result may hold screenshots, and grows by escaping."""


def encode(message: Mapping[str, Any]) -> bytes:
    """One message as one line."""
    try:
        return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:  # Lone surrogates, which a server may well send.
        return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> dict[str, Any]:
    """The message of one line; raises `UsageError`."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError("The line is not JSON.") from None
    if not isinstance(message, dict):
        raise UsageError("The line is not an object.")
    return message
