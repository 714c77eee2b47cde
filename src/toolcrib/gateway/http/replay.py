"""Answers as numbered streams, kept for a while, so that a client that was cut off can ask for the rest.

Only legacy clients since 2025-11-25 do that. What is kept is bounded and goes with the session.
"""

from __future__ import annotations

import asyncio
import secrets

from toolcrib.gateway.wire import encode
from toolcrib.serverkit.protocol import Message

SINCE = "2025-11-25"
"""From this version on an event without content may open a stream; older clients would stumble over it."""
RETRY_MS = 1000
MAX_STREAMS = 64
MAX_BYTES = 4 * 1024 * 1024
"""Of one stream; of a longer one nothing is kept."""


class KeptStream:
    """What was said in answer to one request."""

    def __init__(self) -> None:
        self.id = secrets.token_urlsafe(9)
        self.done = False
        self._events: list[bytes] = []
        self._bytes = 0
        self._news = asyncio.Event()

    @property
    def whole(self) -> bool:
        """Whether everything that was said is still here."""
        return self._bytes <= MAX_BYTES

    def opening(self) -> bytes:
        """The event that stands for the beginning of the stream."""
        return f"id: {self.id}.0\nretry: {RETRY_MS}\ndata:\n\n".encode()

    def add(self, message: Message) -> bytes:
        """The next event; it is kept too."""
        number = len(self._events) + 1
        event = b"event: message\nid: %b.%d\ndata: %b\n\n" % (self.id.encode(), number, encode(message))
        self._bytes += len(event)
        self._events.append(event if self.whole else b"")
        if not self.whole:
            self._events = [b""] * number
        self._wake()
        return event

    def finish(self) -> None:
        """Nothing more comes."""
        self.done = True
        self._wake()

    def after(self, number: int) -> list[bytes]:
        """The events that came after this one."""
        return self._events[number:]

    async def news(self) -> None:
        """Wait until there is more, or the end."""
        await self._news.wait()

    def _wake(self) -> None:
        before, self._news = self._news, asyncio.Event()
        before.set()


class KeptStreams:
    """Those of one session, the latest ones."""

    def __init__(self) -> None:
        self._streams: dict[str, KeptStream] = {}

    def open(self) -> KeptStream:
        """A new one; the oldest makes room for it."""
        while len(self._streams) >= MAX_STREAMS:
            del self._streams[next(iter(self._streams))]
        stream = KeptStream()
        self._streams[stream.id] = stream
        return stream

    def find(self, last_event_id: str) -> tuple[KeptStream, int] | None:
        """The stream of an event, and its number; None when it is no longer here as a whole."""
        name, _, number = last_event_id.rpartition(".")
        stream = self._streams.get(name)
        if stream is None or not stream.whole or not number.isdecimal():
            return None
        return stream, int(number)
