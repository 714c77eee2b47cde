"""The stream on which a legacy client is told of changes; one for each session."""

from __future__ import annotations

import asyncio
from typing import Any

from toolcrib.gateway.http.exchange import KEEP_ALIVE, STREAM_HEADERS, Receive, Send, event
from toolcrib.gateway.http.kept import KeptStream
from toolcrib.gateway.http.sessions import MAX_UNHEARD, HttpSession, Unheard


async def stream_changes(session: HttpSession, receive: Receive, send: Send) -> None:
    """Tell the client what comes into its outbox, until it hangs up or the session ends."""
    queue: Unheard = asyncio.Queue(MAX_UNHEARD)
    session.outbox.queue = queue
    hung_up = asyncio.ensure_future(_until_gone(receive))
    try:
        await send({"type": "http.response.start", "status": 200, "headers": STREAM_HEADERS})
        await send({"type": "http.response.body", "body": b":\n\n", "more_body": True})
        await _pour(queue, hung_up, send)
    finally:
        session.outbox.queue = None
        hung_up.cancel()


async def resume(stream: KeptStream, number: int, receive: Receive, send: Send) -> None:
    """The rest of an answer's stream, after the event of this number, to its end."""
    hung_up = asyncio.ensure_future(_until_gone(receive))
    try:
        await send({"type": "http.response.start", "status": 200, "headers": STREAM_HEADERS})
        while not hung_up.done():
            for event_ in stream.after(number):
                number += 1
                await send({"type": "http.response.body", "body": event_, "more_body": True})
            if stream.done:
                break
            news = asyncio.ensure_future(stream.news())
            waits: set[asyncio.Future[Any]] = {news, hung_up}
            await asyncio.wait(waits, timeout=KEEP_ALIVE, return_when=asyncio.FIRST_COMPLETED)
            if not news.done():
                news.cancel()
                await send({"type": "http.response.body", "body": b":\n\n", "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        hung_up.cancel()


async def _pour(queue: Unheard, hung_up: asyncio.Future[None], send: Send) -> None:
    while not hung_up.done():
        waiting = asyncio.ensure_future(queue.get())
        waits: set[asyncio.Future[Any]] = {waiting, hung_up}
        await asyncio.wait(waits, timeout=KEEP_ALIVE, return_when=asyncio.FIRST_COMPLETED)
        if hung_up.done():
            waiting.cancel()
            return
        message = waiting.result() if waiting.done() else {}
        waiting.cancel()
        if message is None:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        body = event(message) if message else b":\n\n"
        await send({"type": "http.response.body", "body": body, "more_body": True})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
