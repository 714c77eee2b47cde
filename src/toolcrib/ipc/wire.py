"""The protocol of the local socket: lines of JSON, and their size limits.

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
from collections.abc import Mapping
from typing import Any

from toolcrib.errors import UsageError

PROTOCOL = 2
MAX_REQUEST = 64 * 1024 * 1024
"""Bytes per request; a call's arguments may contain a file."""
MAX_ANSWER = 512 * 1024 * 1024
"""Bytes per answer; a result may contain screenshots, and escaping makes it longer."""


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
