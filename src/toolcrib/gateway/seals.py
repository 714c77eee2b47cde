"""States of servers on their way through clients: each says whose it is, and is good for one purpose alone.

Nothing is kept here but a key, so a client may come back at any time and as often as the server lets it. The
key ends with the process, and every state with it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from functools import cache
from typing import Any

from pydantic_core import from_json

from toolcrib.errors import UsageError
from toolcrib.serverkit.encoding import encode

_PREFIX = "toolcrib."


def is_sealed(state: Any) -> bool:
    """True when it looks like one of ours."""
    return isinstance(state, str) and state.startswith(_PREFIX)


def seal(server: str, state: Any, mark: str) -> str:
    """A server's state as the client carries it; `mark` is what it may be used for."""
    content = base64.urlsafe_b64encode(encode([server, state])).decode()
    return f"{_PREFIX}{content}.{_signature(content, mark)}"


def unseal(sealed: Any, mark: str) -> tuple[str, Any]:
    """The server and its state; raises `UsageError` for what was altered or is of another purpose."""
    if is_sealed(sealed):
        content, _, signature = sealed.removeprefix(_PREFIX).partition(".")
        if hmac.compare_digest(_signature(content, mark).encode(), signature.encode("utf-8", "replace")):
            server, state = from_json(base64.urlsafe_b64decode(content))
            return server, state
    raise UsageError("This requestState is not known here, or no longer.")


def _signature(content: str, mark: str) -> str:
    text = f"{content}.{mark}".encode("utf-8", "surrogatepass")
    return hmac.new(_key(), text, hashlib.sha256).hexdigest()


@cache
def _key() -> bytes:
    return secrets.token_bytes(32)
