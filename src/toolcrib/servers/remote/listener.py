"""Holds open the stream on which a legacy HTTP server speaks unasked: changes, logs, questions.

A server that offers none is asked once. A stream that ends is opened again where it stopped, after pauses
that grow while nothing comes of it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import httpx2

from toolcrib.errors import AuthRequired, ConnectionLost, RemoteUnreachable, ResultTooLarge
from toolcrib.servers.link import LinkContext, Message
from toolcrib.servers.remote.conversation import messages_in
from toolcrib.servers.remote.endpoint import Endpoint
from toolcrib.servers.remote.event_stream import EventStreamReader
from toolcrib.servers.remote.reconnect import Reconnect
from toolcrib.tasks import cancel_and_wait

PATIENCE = 1.0
"""Seconds for which the handshake waits for the stream, so that nothing said early is missed."""

OpenStream = Callable[[str | None], AbstractAsyncContextManager[httpx2.Response | None]]
"""Opens the stream after the event with this id; gives None where the server offers none."""


class Listener:
    """One listening stream and the task that keeps it open."""

    def __init__(
        self,
        endpoint: Endpoint,
        open_stream: OpenStream,
        hear: Callable[[Message], None],
        context: LinkContext,
    ) -> None:
        self._endpoint = endpoint
        self._open_stream = open_stream
        self._hear = hear
        self._context = context
        self._reconnect = Reconnect()
        self._opened = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listen from now on; returns when the stream is open, or when it takes too long."""
        self._task = asyncio.ensure_future(self._keep_listening())
        self._task.add_done_callback(lambda _: self._opened.set())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self._opened.wait()

    async def stop(self) -> None:
        """Close the stream."""
        await cancel_and_wait(self._task)

    async def _keep_listening(self) -> None:
        last_event_id: str | None = None
        clock = asyncio.get_running_loop().time
        while True:
            reader = EventStreamReader(max_event_bytes=self._context.max_message_bytes)
            began = clock()
            try:
                if not await self._listen(reader, last_event_id):
                    return
            except AuthRequired as error:
                self._context.on_log(error.message)
                return
            except (RemoteUnreachable, ConnectionLost, ResultTooLarge) as error:
                self._context.on_log(error.message)
            self._opened.set()
            if clock() - began > self._reconnect.longest:
                self._reconnect.fruitful()
            last_event_id = reader.last_event_id or last_event_id
            await asyncio.sleep(self._reconnect.next_delay(reader.retry))

    async def _listen(self, reader: EventStreamReader, last_event_id: str | None) -> bool:
        """Hear one stream to its end; False when there is none."""
        async with self._open_stream(last_event_id) as response:
            if response is None:
                return False
            self._opened.set()
            async with contextlib.aclosing(self._endpoint.events(response, reader)) as events:
                async for event in events:
                    for message in await messages_in(event, self._context.on_log):
                        self._reconnect.fruitful()
                        self._hear(message)
        return True
