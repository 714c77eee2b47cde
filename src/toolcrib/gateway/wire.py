"""How the gateway speaks to a client: beside an answer, on its own account, and with questions of servers."""

from __future__ import annotations

from typing import Any, Protocol

from toolcrib.serverkit.protocol import Message


class Wire(Protocol):
    """The way back to the client while one of its requests is being answered."""

    def tell(self, message: Message) -> None:
        """Send a notification that belongs to the request, before its answer."""

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Ask the client something (legacy era only) and wait for its result; raises `PeerError`."""


class Channel(Protocol):
    """The way to a client that is not answering a request: change notifications of the legacy era."""

    def push(self, message: Message) -> None:
        """Send a message when the client listens; it is lost when it does not."""
