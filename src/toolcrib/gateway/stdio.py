"""The gateway as a program that a client starts: one client, on stdin and stdout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolcrib.gateway.client import Front
from toolcrib.gateway.gateway import Gateway
from toolcrib.gateway.questions import Questions
from toolcrib.schema.tools import Principal
from toolcrib.serverkit.protocol import Message
from toolcrib.serverkit.stdio import serve_session

Notify = Callable[[Message], None]


async def serve_stdio(gateway: Gateway, incoming: int, outgoing: int) -> None:
    """Answer the client until its input ends."""
    client = StdioClient(gateway)
    async with gateway.following():
        try:
            await serve_session(client, incoming, outgoing)
        finally:
            client.front.close()


class StdioClient:
    """The one client: its requests, and the answers to what it was asked, come on the same line."""

    def __init__(self, gateway: Gateway) -> None:
        self.front = Front(gateway, self, Principal(name=_name(gateway)))
        self._notify: Notify | None = None
        self._questions = Questions()

    @property
    def version(self) -> str | None:
        """The version the client opened with."""
        return self.front.version

    async def respond(self, message: Message, notify: Notify) -> Message | None:
        """Answer a message; an answer to a question of ours goes to whoever asked."""
        self._notify = notify
        if "method" not in message:
            self._questions.take(message)
            return None
        return await self.front.respond(message, self)

    def tell(self, message: Message) -> None:
        """Say something beside an answer."""
        if self._notify is not None:
            self._notify(message)

    push = tell

    def break_off(self) -> None:
        """There is only one stream here, and it stays."""

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Ask the client and wait for its answer."""
        return await self._questions.ask(self.tell, method, params)

    def end(self) -> None:
        """The client is leaving."""
        self._questions.give_up()

    def cancel_all(self) -> None:
        """Stop whatever still runs for it."""
        self.front.close()


def _name(gateway: Gateway) -> str:
    return f"gateway:{gateway.profile.name}" if gateway.profile.name else "gateway"
