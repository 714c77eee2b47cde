"""Handlers for requests from a server: sampling, elicitation and roots, in raw MCP payloads. Decides which
capabilities are advertised.

A handler that is not set is not advertised as a capability, and a request for it is refused.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

from toolcrib.errors import PeerError, ToolcribError
from toolcrib.servers.sessions.peer import INTERNAL_ERROR, METHOD_NOT_FOUND

logger = logging.getLogger(__name__)

Payload = dict[str, Any]
Hook = Callable[[str, Payload], Awaitable[Payload]]
"""Called with the server's name and the request's parameters."""


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


@dataclass(frozen=True, kw_only=True)
class Handlers:
    """None: not offered."""

    sample: Hook | None = None
    """`sampling/createMessage`: ask the model."""
    elicit: Hook | None = None
    """`elicitation/create`: ask the user, by form or by URL."""
    roots: Hook | None = None
    """`roots/list`: the folders a server may use."""

    def capabilities(self) -> Payload:
        """The client capabilities to declare."""
        offered: Payload = {}
        if self.sample is not None:
            offered["sampling"] = {}
        if self.elicit is not None:
            offered["elicitation"] = {"form": {}, "url": {}}
        if self.roots is not None:
            offered["roots"] = {"listChanged": True}
        return offered

    async def answer(self, server: str, method: str, params: Payload) -> Payload:
        """Answer a server's request, in either era; raises `ToolcribError` to refuse it."""
        hook = {
            "sampling/createMessage": self.sample,
            "elicitation/create": self.elicit,
            "roots/list": self.roots,
        }.get(method)
        if hook is None:
            raise PeerError(f"This client does not offer {method}.", code=METHOD_NOT_FOUND)
        try:
            return await hook(server, params)
        except ToolcribError:
            raise
        except Exception as error:  # third-party code: its failure ends only this request
            logger.exception("hook for %s failed", method, extra={"server": server})
            raise PeerError(f"The handler of {method} failed.", code=INTERNAL_ERROR) from error
