"""On whose behalf a request is made: a client behind us may have its own abilities, and answer for itself."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Protocol

Payload = dict[str, Any]


class Behalf(Protocol):
    """A client that is not us; whoever relays for it sets `behalf` while the request is made."""

    @property
    def wants_legacy(self) -> bool:
        """It speaks the older era and can be asked things: a server of both eras asks only in that one."""

    def stamp(self, server: str, params: Payload, *, modern: bool) -> Payload:
        """The parameters with what the client's own request carries besides; raises `ToolcribError`."""

    def break_off(self) -> None:
        """The server closed its stream and goes on working: it will be asked for the rest."""

    def hand_back(self, server: str, result: Payload) -> Payload | None:
        """The result for the client, when it is to answer a server's questions itself; None when we are."""


behalf: ContextVar[Behalf | None] = ContextVar("behalf", default=None)
