"""Who a client of the gateway is: approvals, what was read, and instances of servers belong to one client.
The name under which its calls are recorded, and how many clients without a session are kept apart.

A legacy client, and the one on stdio, has a session that only it knows. A modern request has no session: the
view, its token and what the client says of itself separate it from others. Anyone can say the same, so this
never gives a client more than the token does.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from typing import Any

from toolcrib.schema.tools import Principal
from toolcrib.serverkit.protocol import CLIENT_INFO, Message

MAX_CLIENTS = 256
"""Clients without a session that a view distinguishes; further ones are anonymous."""
_UNUSUAL = re.compile(r"[^\w .+-]")


def view_name(profile: str) -> str:
    """The name under which calls of a view are recorded."""
    return f"gateway:{profile}" if profile else "gateway"


def session_of(profile: str, info: Any = None) -> Principal:
    """A client with a session of its own, which begins now; `info` is what it says of itself."""
    return Principal(name=view_name(profile), session=f"{_label(info)}{secrets.token_hex(8)}")


class SessionlessClients:
    """The modern clients of one view."""

    def __init__(self, profile: str, token_hash: str = "") -> None:
        self._name = view_name(profile)
        self._token_hash = token_hash
        self._anonymous = Principal(name=self._name, session="anonymous", identity="anonymous")
        self._known: dict[tuple[Any, ...], _Client] = {}

    def of(self, message: Message) -> Principal:
        """The client that sent a message."""
        params = message.get("params")
        meta = params.get("_meta") if type(params) is dict else None
        info = meta.get(CLIENT_INFO) if type(meta) is dict else None
        if type(info) is not dict:
            return self._anonymous
        said = (info.get("name"), info.get("title"), info.get("version"))
        try:
            client = self._known[said]
        except (KeyError, TypeError):
            return self._add(said, info)
        client.last_used = time.monotonic()
        return client.principal

    def idle(self, limit: float) -> list[Principal]:
        """Clients that sent nothing for so many seconds, which are forgotten here."""
        before = time.monotonic() - limit
        gone = [said for said, client in self._known.items() if client.last_used < before]
        return [self._known.pop(said).principal for said in gone]

    def _add(self, said: tuple[Any, ...], info: dict[str, Any]) -> Principal:
        texts = [part for part in said if part is not None]
        if not said[0] or not all(type(text) is str for text in texts) or len(self._known) >= MAX_CLIENTS:
            return self._anonymous
        seen = repr((self._token_hash, said)).encode("utf-8", "surrogatepass")
        session = f"{_label(info)}{hashlib.sha256(seen).hexdigest()[:16]}"
        principal = Principal(name=self._name, session=session, identity="claimed")
        self._known[said] = _Client(principal)
        return principal


class _Client:
    __slots__ = ("last_used", "principal")

    def __init__(self, principal: Principal) -> None:
        self.principal = principal
        self.last_used = time.monotonic()


def _label(info: Any) -> str:
    """The name and version that a client gives, for the user to recognise it by."""
    said = [info.get(key) for key in ("name", "version")] if isinstance(info, dict) else []
    texts = [_UNUSUAL.sub("", text[:200])[:40].strip() for text in said if isinstance(text, str)]
    return "".join(f"{text} " for text in texts if text)
