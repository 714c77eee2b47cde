"""Questions to a client of the legacy era that wait for their answers."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

from toolcrib.errors import ConnectionLost, PeerError
from toolcrib.serverkit.protocol import INTERNAL_ERROR, Message


class Questions:
    """Gives each question an id of its own and its answer back."""

    def __init__(self) -> None:
        self._count = itertools.count(1)
        self._waiting: dict[str, asyncio.Future[Message]] = {}

    async def ask(
        self, tell: Callable[[Message], None], method: str, params: dict[str, Any]
    ) -> dict[str, Any]:
        """Ask, by way of `tell`, and wait for the result; raises `PeerError` when the client refuses."""
        question = f"toolcrib-{next(self._count)}"
        answer = self._waiting[question] = asyncio.get_running_loop().create_future()
        tell({"jsonrpc": "2.0", "id": question, "method": method, "params": params})
        try:
            return _result(await answer)
        finally:
            del self._waiting[question]

    def take(self, message: Message) -> None:
        """A response of the client; one to a question that nobody asked is dropped."""
        question = message.get("id")
        answer = self._waiting.get(question) if isinstance(question, str) else None
        if answer is not None and not answer.done():
            answer.set_result(message)

    def give_up(self) -> None:
        """The client is gone: whoever waits learns it."""
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(ConnectionLost("The client went away before it answered."))


def _result(answer: Message) -> dict[str, Any]:
    error = answer.get("error")
    if isinstance(error, dict):
        code = error.get("code")
        text = str(error.get("message") or "The client gave no reason.")
        raise PeerError(text, code=code if isinstance(code, int) else INTERNAL_ERROR)
    result = answer.get("result")
    return result if isinstance(result, dict) else {}
