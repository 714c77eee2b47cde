"""Signs the request state of servers that clients carry: it names the server, and is valid for one purpose
only.

Only a key is kept here, so a client may come back at any time and as often as the server allows. The key, and
with it every state, ends with the process. Gateways on a shared database have one key, so that a client may
come back to any of them.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from typing import Any

from pydantic_core import from_json

from toolcrib.errors import UsageError
from toolcrib.serverkit.encoding import encode

_PREFIX = "toolcrib."


def is_signed(state: Any) -> bool:
    """True if it looks like one of ours."""
    return isinstance(state, str) and state.startswith(_PREFIX)


def sign_state(server: str, state: Any, purpose: str) -> str:
    """A server's state as the client carries it."""
    content = base64.urlsafe_b64encode(encode([server, state])).decode()
    return f"{_PREFIX}{content}.{_signature(content, purpose)}"


def verify_state(signed: Any, purpose: str) -> tuple[str, Any]:
    """The server and its state; raises `UsageError` if it was altered or is for another purpose."""
    if is_signed(signed):
        content, _, signature = signed.removeprefix(_PREFIX).partition(".")
        if hmac.compare_digest(_signature(content, purpose).encode(), signature.encode("utf-8", "replace")):
            server, state = from_json(base64.urlsafe_b64decode(content))
            return server, state
    raise UsageError("This requestState is unknown or has expired.")


def _signature(content: str, purpose: str) -> str:
    text = f"{content}.{purpose}".encode("utf-8", "surrogatepass")
    return hmac.new(_keys[0], text, hashlib.sha256).hexdigest()


def use_key(key: bytes) -> None:
    """Sign with the key of the shared database from now on."""
    _keys[:] = [key]


_keys = [secrets.token_bytes(32)]
"""The one key of this process."""
