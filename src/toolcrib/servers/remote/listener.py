"""Keeps open the stream on which a legacy HTTP server sends notifications and requests.

A stream that ends is resumed, after delays that grow while nothing arrives. A server without such a stream is
asked only once.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

import httpx2

from toolcrib.errors import AuthRequired, ConnectionLost, RemoteUnreachable, ResultTooLarge
from toolcrib.servers.metered import ServerShare
from toolcrib.servers.remote.conversation import messages_in
from toolcrib.servers.remote.endpoint import Endpoint
from toolcrib.servers.remote.event_stream import EventStreamReader
from toolcrib.servers.transport import LinkContext, Message
from toolcrib.tasks import cancel_and_wait

PATIENCE = 1.0
"""Seconds the handshake waits for the stream, so that early messages are not missed."""

OpenStream = Callable[[str | None], AbstractAsyncContextManager[httpx2.Response | None]]
"""Opens the stream after the event with this id; None if the server offers none."""


class Listener:
    def __init__(
        self,
        endpoint: Endpoint,
        open_stream: OpenStream,
        receive: Callable[[Message], None],
        context: LinkContext,
        share: ServerShare,
    ) -> None:
        self._share = share
        self._endpoint = endpoint
        self._open_stream = open_stream
        self._receive = receive
        self._context = context
        self._reconnect = Reconnect()
        self._opened = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start listening; returns when the stream is open, or after `PATIENCE`."""
        self._task = asyncio.ensure_future(self._share.metered(self._keep_listening()))
        self._task.add_done_callback(lambda _: self._opened.set())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self._opened.wait()

    async def stop(self) -> None:
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
        """Read one stream to its end; False if there is none."""
        async with self._open_stream(last_event_id) as response:
            if response is None:
                return False
            self._opened.set()
            async with contextlib.aclosing(self._endpoint.events(response, reader)) as events:
                async for event in events:
                    for message in await messages_in(event, self._context.on_log):
                        self._reconnect.fruitful()
                        self._receive(message)
        return True


SHORTEST_DELAY = 0.05


@dataclass(kw_only=True)
class Reconnect:
    """The delay before reopening a cut stream: doubles with each attempt that brought nothing."""

    first: float = 1.0
    longest: float = 60.0
    fruitless: int = 0
    """Attempts since the last message."""

    def fruitful(self) -> None:
        """A message arrived: reset the delay."""
        self.fruitless = 0

    def next_delay(self, asked: float | None = None) -> float:
        """Seconds to wait; at least what the server `asked` for (its `retry:`)."""
        start = max(self.first if asked is None else asked, SHORTEST_DELAY)
        delay = start * float(2 ** min(self.fruitless, 16))
        self.fruitless += 1
        return min(delay, max(start, self.longest))
