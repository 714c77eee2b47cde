"""One POST: the client's message in, one JSON object out, or a stream when there is more to say.

Nothing is said before most answers, and those go out as plain JSON. The first notification, or the first
question of a server, turns the answer into an event stream; so does an answer that takes long, where the
client can ask for the rest of a stream that was cut.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from toolcrib.gateway.http.kept import KeptStream
from toolcrib.gateway.questions import Questions
from toolcrib.gateway.wire import encode
from toolcrib.serverkit.protocol import Message

Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[dict[str, Any]]]

KEEP_ALIVE = 15.0
STREAM_AFTER = 2.0
"""Seconds after which an answer that can be resumed becomes a stream: what takes long may be cut."""
UNWATCHED = 0.05
"""Seconds in which a client of the modern era may hang up without its call being cancelled."""
MAX_UNSENT = 1000
"""Notifications that wait for a client that does not read; the oldest are dropped beyond that."""
_STATUS: dict[Any, int] = {-32022: 400, -32020: 400, -32700: 400, -32600: 400}
_MODERN_STATUS: dict[Any, int] = {**_STATUS, -32021: 400, -32602: 400, -32601: 404}

JSON_HEADERS = [(b"content-type", b"application/json")]
STREAM_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


class Exchange:
    """The wire of one request over HTTP; the answers to `questions` come with requests of their own."""

    def __init__(self, questions: Questions, keep: Callable[[], KeptStream] | None = None) -> None:
        self._unsent: deque[Message] = deque(maxlen=MAX_UNSENT)
        self._questions = questions
        self._keep = keep
        self._broken_off = False
        self._pause: asyncio.Future[bool] | None = None

    def tell(self, message: Message) -> None:
        """Queue a notification for the stream."""
        self._unsent.append(message)
        self._wake()

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Ask the client on this request's stream; its answer comes as a POST of its own."""
        return await self._questions.ask(self.tell, method, params)

    def break_off(self) -> None:
        """Close the stream before the answer, if it is kept: the client comes back for the rest."""
        self._broken_off = True
        self._wake()

    async def run(
        self,
        answering: asyncio.Task[Message | None],
        send: Send,
        receive: Receive,
        headers: list[Any],
        *,
        cancels: bool,
        streams: bool = False,
    ) -> None:
        """Send what is said and then the answer. `cancels`, of the modern era: to hang up is to cancel.

        `streams`: the client would rather have a stream than one object.
        """
        answering.add_done_callback(self._wake)
        hung_up: asyncio.Future[None] | None = None
        try:
            # Most answers come at once, and looking out for a client that hangs up costs more than they do.
            if not streams:
                await self._woken(UNWATCHED if cancels else STREAM_AFTER if self._keep else None)
            if cancels and not answering.done() and not self._unsent and not streams:
                hung_up = self._watch(receive)
                await self._woken()
            if answering.done() and not self._unsent and not streams:
                await _send_json(send, answering.result(), headers, modern=cancels)
                return
            hung_up = hung_up or self._watch(receive)
            if not hung_up.done() or self._keep is not None:
                await self._stream(answering, hung_up, send, headers)
        finally:
            if hung_up is not None:
                hung_up.cancel()
            if cancels and not answering.done():
                answering.cancel()
                await asyncio.gather(answering, return_exceptions=True)

    async def _stream(
        self,
        answering: asyncio.Task[Message | None],
        hung_up: asyncio.Future[None],
        send: Send,
        headers: list[Any],
    ) -> None:
        kept = self._keep() if self._keep is not None else None
        say = event if kept is None else kept.add
        await send({"type": "http.response.start", "status": 200, "headers": [*STREAM_HEADERS, *headers]})
        if kept is not None:
            await _send_part(send, kept.opening())
        while not hung_up.done() and not (self._broken_off and kept is not None):
            if self._unsent:
                await _send_part(send, say(self._unsent.popleft()))
            elif answering.done():
                answer = answering.result()
                if answer is not None:
                    await _send_part(send, say(answer))
                if kept is not None:
                    kept.finish()
                break
            elif not await self._woken(KEEP_ALIVE):
                await _send_part(send, b":\n\n")
        with contextlib.suppress(OSError):
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        if kept is not None and not kept.done:
            await self._keep_rest(kept, answering)

    async def _keep_rest(self, kept: KeptStream, answering: asyncio.Task[Message | None]) -> None:
        """What is said from now on waits for the client to come back."""
        while self._unsent or not answering.done():
            while self._unsent:
                kept.add(self._unsent.popleft())
            if not answering.done():
                await self._woken()
        answer = answering.result()
        if answer is not None:
            kept.add(answer)
        kept.finish()

    def _watch(self, receive: Receive) -> asyncio.Future[None]:
        """Done when the client hangs up."""
        hung_up = asyncio.ensure_future(_hang_up(receive))
        hung_up.add_done_callback(self._wake)
        return hung_up

    async def _woken(self, within: float | None = None) -> bool:
        """Wait until there is something to do; False when there was nothing for so many seconds."""
        loop = asyncio.get_running_loop()
        self._pause = loop.create_future()
        timer = None if within is None else loop.call_later(within, self._end_pause, False)
        try:
            return await self._pause
        finally:
            if timer is not None:
                timer.cancel()

    def _wake(self, _: object = None) -> None:
        self._end_pause(True)

    def _end_pause(self, woken: bool) -> None:
        if self._pause is not None and not self._pause.done():
            self._pause.set_result(woken)


def event(message: Message) -> bytes:
    """A message as one event of a stream."""
    return b"event: message\ndata: " + encode(message) + b"\n\n"


async def _send_part(send: Send, part: bytes) -> None:
    await send({"type": "http.response.body", "body": part, "more_body": True})


async def _send_json(send: Send, answer: Message | None, headers: list[Any], *, modern: bool) -> None:
    if answer is None:
        await send({"type": "http.response.start", "status": 202, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    body = encode(answer)
    length = (b"content-length", str(len(body)).encode())
    status = status_of(answer, modern=modern)
    await send(
        {"type": "http.response.start", "status": status, "headers": [*JSON_HEADERS, length, *headers]}
    )
    await send({"type": "http.response.body", "body": body})


def status_of(answer: Message, *, modern: bool) -> int:
    """The HTTP status of an answer; errors of the modern era have their own."""
    error = answer.get("error")
    return 200 if error is None else (_MODERN_STATUS if modern else _STATUS).get(error.get("code"), 200)


async def _hang_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
