"""The gateway on stdin and stdout, for the one client that started it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolcrib.gateway.client import GatewayClient
from toolcrib.gateway.gateway import Gateway
from toolcrib.gateway.identity import session_of
from toolcrib.gateway.wire import PendingRequests
from toolcrib.serverkit.protocol import Message
from toolcrib.serverkit.stdio import serve_session

Notify = Callable[[Message], None]


async def serve_stdio(gateway: Gateway, incoming: int, outgoing: int) -> None:
    """Answer the client until its input ends."""
    connection = StdioConnection(gateway)
    async with gateway.following():
        try:
            await serve_session(connection, incoming, outgoing)
        finally:
            connection.client.end()


class StdioConnection:
    """The connection of that client: its requests, and its responses to ours, come on the same stream."""

    def __init__(self, gateway: Gateway) -> None:
        self.client = GatewayClient(gateway, self, session_of(gateway.profile.name))
        self._send: Notify | None = None
        self._requests = PendingRequests()

    @property
    def version(self) -> str | None:
        """The negotiated version."""
        return self.client.version

    async def respond(self, message: Message, notify: Notify) -> Message | None:
        """Answer a message, or pass a response on to the request that waits for it."""
        self._send = notify
        if "method" not in message:
            self._requests.receive(message)
            return None
        return await self.client.respond(message, self)

    def notify(self, message: Message) -> None:
        if self._send is not None:
            self._send(message)

    push = notify

    def interrupt(self) -> None:
        """The only stream stays open."""

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send the client a request and wait for the result."""
        return await self._requests.send(self.notify, method, params)

    def end(self) -> None:
        """The client closed its input."""
        self._requests.fail_all()

    def cancel_all(self) -> None:
        """Cancel the requests that still run."""
        self.client.close()
