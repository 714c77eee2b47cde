"""The client for which a request is relayed; it may answer a server's questions itself."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Protocol

Payload = dict[str, Any]


class RelayedClient(Protocol):
    """A client behind the gateway, which sets `relayed_client` during the request."""

    @property
    def wants_legacy(self) -> bool:
        """It speaks the older era and can answer questions; servers ask these only in that era."""

    def stamp(self, server: str, params: Payload, *, modern: bool) -> Payload:
        """The parameters with additions from the client's request; raises `ToolcribError`."""

    def break_off(self) -> None:
        """The server closed its stream and continues to work; the rest is fetched later."""

    def hand_back(self, server: str, result: Payload) -> Payload | None:
        """The result to return if the client answers the server's questions itself; None if we do."""


relayed_client: ContextVar[RelayedClient | None] = ContextVar("relayed_client", default=None)
