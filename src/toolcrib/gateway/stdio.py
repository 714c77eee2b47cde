"""The gateway as a program that a client starts: one client, on stdin and stdout."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

from toolcrib.errors import PeerError
from toolcrib.gateway.front import Front
from toolcrib.gateway.gateway import Gateway
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
        self._questions: dict[Any, asyncio.Future[Message]] = {}
        self._count = itertools.count(1)

    @property
    def version(self) -> str | None:
        """The version the client opened with."""
        return self.front.version

    async def respond(self, message: Message, notify: Notify) -> Message | None:
        """Answer a message; an answer to a question of ours goes to whoever asked."""
        self._notify = notify
        if "method" not in message:
            self._take_answer(message)
            return None
        return await self.front.respond(message, self)

    def tell(self, message: Message) -> None:
        """Say something beside an answer."""
        if self._notify is not None:
            self._notify(message)

    push = tell

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Ask the client and wait for its answer."""
        question = f"toolcrib-{next(self._count)}"
        answer = self._questions[question] = asyncio.get_running_loop().create_future()
        self.tell({"jsonrpc": "2.0", "id": question, "method": method, "params": params})
        try:
            return _result(await answer)
        finally:
            del self._questions[question]

    def end(self) -> None:
        """The client is leaving."""
        for answer in self._questions.values():
            if not answer.done():
                answer.cancel()

    def cancel_all(self) -> None:
        """Stop whatever still runs for it."""
        self.front.close()

    def _take_answer(self, message: Message) -> None:
        question = message.get("id")
        answer = self._questions.get(question) if isinstance(question, str) else None
        if answer is not None and not answer.done():
            answer.set_result(message)


def _name(gateway: Gateway) -> str:
    return f"gateway:{gateway.profile.name}" if gateway.profile.name else "gateway"


def _result(answer: Message) -> dict[str, Any]:
    error = answer.get("error")
    if isinstance(error, dict):
        code = error.get("code")
        raise PeerError(str(error.get("message")), code=code if isinstance(code, int) else -32603)
    result = answer.get("result")
    return result if isinstance(result, dict) else {}
