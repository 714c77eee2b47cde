"""The stream on which a legacy client is told of changes, one for each session; and the rest of one that was
cut."""

from __future__ import annotations

import asyncio
from typing import Any

from toolcrib.gateway.http.exchange import KEEP_ALIVE, SILENCE, STREAM_HEADERS, event
from toolcrib.gateway.http.replay import KeptStream
from toolcrib.gateway.http.request import HttpRequest
from toolcrib.gateway.http.sessions import MAX_UNHEARD, HttpSession, Unheard


async def stream_changes(session: HttpSession, request: HttpRequest) -> None:
    """Tell the client what comes into its outbox, until it hangs up or the session ends."""
    queue: Unheard = asyncio.Queue(MAX_UNHEARD)
    session.outbox.queue = queue
    try:
        request.open_stream(STREAM_HEADERS)
        await request.send(SILENCE)
        await _pour(queue, request)
        request.end_stream()
    finally:
        session.outbox.queue = None


async def resume(stream: KeptStream, number: int, request: HttpRequest) -> None:
    """The rest of an answer's stream, after the event of this number, to its end."""
    hung_up = request.hung_up()
    request.open_stream(STREAM_HEADERS)
    while not request.gone:
        for event_ in stream.after(number):
            number += 1
            await request.send(event_)
        if stream.done:
            break
        news = asyncio.ensure_future(stream.news())
        waits: set[asyncio.Future[Any]] = {news, hung_up}
        await asyncio.wait(waits, timeout=KEEP_ALIVE, return_when=asyncio.FIRST_COMPLETED)
        if not news.done():
            news.cancel()
            await request.send(SILENCE)
    request.end_stream()


async def _pour(queue: Unheard, request: HttpRequest) -> None:
    hung_up = request.hung_up()
    while not request.gone:
        waiting = asyncio.ensure_future(queue.get())
        waits: set[asyncio.Future[Any]] = {waiting, hung_up}
        await asyncio.wait(waits, timeout=KEEP_ALIVE, return_when=asyncio.FIRST_COMPLETED)
        message = waiting.result() if waiting.done() else {}
        waiting.cancel()
        if message is None:
            return
        await request.send(event(message) if message else SILENCE)
