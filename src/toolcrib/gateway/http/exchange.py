"""One POST: the client's message in, one JSON object out, or a stream when there is more to say.

Nothing is said before most answers, and those go out as plain JSON. The first notification, or the first
question of a server, turns the answer into an event stream.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from pydantic_core import to_json

from toolcrib.gateway.questions import Questions
from toolcrib.serverkit.protocol import Message

Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[dict[str, Any]]]

KEEP_ALIVE = 15.0
MAX_UNSENT = 1000
"""Notifications that wait for a client that does not read; the oldest are dropped beyond that."""
_STATUS: dict[Any, int] = {-32022: 400, -32020: 400, -32700: 400, -32600: 400}

JSON_HEADERS = [(b"content-type", b"application/json")]
STREAM_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


class Exchange:
    """The wire of one request over HTTP; the answers to `questions` come with requests of their own."""

    def __init__(self, questions: Questions) -> None:
        self._unsent: asyncio.Queue[Message] = asyncio.Queue(MAX_UNSENT)
        self._questions = questions

    def tell(self, message: Message) -> None:
        """Queue a notification for the stream."""
        while True:
            try:
                self._unsent.put_nowait(message)
                return
            except asyncio.QueueFull:
                self._unsent.get_nowait()

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Ask the client on this request's stream; its answer comes as a POST of its own."""
        return await self._questions.ask(self.tell, method, params)

    async def run(
        self,
        answering: asyncio.Task[Message | None],
        send: Send,
        receive: Receive,
        headers: list[Any],
        *,
        cancels: bool,
    ) -> None:
        """Send what is said and then the answer. `cancels`: a client that hangs up cancels its request."""
        hung_up = asyncio.ensure_future(_hang_up(receive))
        first = asyncio.ensure_future(self._unsent.get())
        try:
            waits: set[asyncio.Future[Any]] = {answering, first, hung_up}
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            if answering.done() and not first.done() and self._unsent.empty():
                await _send_json(send, answering.result(), headers)
            elif not hung_up.done():
                await self._stream(answering, first, hung_up, send, headers)
        finally:
            first.cancel()
            hung_up.cancel()
            if cancels:
                answering.cancel()
                await asyncio.gather(answering, return_exceptions=True)

    async def _stream(
        self,
        answering: asyncio.Task[Message | None],
        first: asyncio.Future[Message],
        hung_up: asyncio.Future[None],
        send: Send,
        headers: list[Any],
    ) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [*STREAM_HEADERS, *headers]})
        nextone = first
        while not hung_up.done():
            waits: set[asyncio.Future[Any]] = {answering, nextone, hung_up}
            await asyncio.wait(waits, timeout=KEEP_ALIVE, return_when=asyncio.FIRST_COMPLETED)
            if nextone.done():
                await _send_event(send, nextone.result())
                nextone = asyncio.ensure_future(self._unsent.get())
                continue
            if answering.done():
                nextone.cancel()
                answer = answering.result()
                if answer is not None:
                    await _send_event(send, answer)
                break
            if not hung_up.done():
                await send({"type": "http.response.body", "body": b":\n\n", "more_body": True})
        nextone.cancel()
        with contextlib.suppress(OSError):
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def event(message: Message) -> bytes:
    """A message as one event of a stream."""
    return b"event: message\ndata: " + to_json(message) + b"\n\n"


async def _send_event(send: Send, message: Message) -> None:
    await send({"type": "http.response.body", "body": event(message), "more_body": True})


async def _send_json(send: Send, answer: Message | None, headers: list[Any]) -> None:
    if answer is None:
        await send({"type": "http.response.start", "status": 202, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    body = to_json(answer)
    length = (b"content-length", str(len(body)).encode())
    status = status_of(answer)
    await send(
        {"type": "http.response.start", "status": status, "headers": [*JSON_HEADERS, length, *headers]}
    )
    await send({"type": "http.response.body", "body": body})


def status_of(answer: Message) -> int:
    """The HTTP status of an answer; errors of the modern era that concern the envelope have their own."""
    return _STATUS.get((answer.get("error") or {}).get("code"), 200)


async def _hang_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
