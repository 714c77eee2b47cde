"""Tells every open page what happens in the host, as one numbered series that a page can resume.

The host's events are listened to once, however many pages there are; to single calls only while there is one.
The latest are kept: a page that was cut off goes on where it was, and one that was away for too long, or knew
another run of the host, is told to fetch everything anew. No page that reads slowly holds up anything.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from toolcrib.host import Host
from toolcrib.schema.events import CallFinished
from toolcrib.serverkit.encoding import encode
from toolcrib.tasks import cancel_and_wait
from toolcrib.web.live_events import CallTelling, shown_event, waiting_event, worth_a_look

KEPT = 2000
"""Events that are kept for those who come back."""
HEARTBEAT = 10.0
MOST_PAGES = 64
SETTLING = 0.1
"""Seconds in which several changes of what waits become one."""
TICK = 0.5
"""Seconds between looks at how many calls run, and at the rate in which they are told."""


class Hub:
    """The series. `run` names this run of the host, which is part of every event's id."""

    def __init__(self, host: Host) -> None:
        self.run = secrets.token_hex(4)
        self.pages = 0
        self.closed = False
        self._host = host
        self._kept: deque[tuple[int, bytes]] = deque(maxlen=KEPT)
        self._number = 0
        self._news = asyncio.Event()
        self._look = asyncio.Event()
        self._calls: asyncio.Task[None] | None = None
        self._told_waiting: list[Any] | None = None

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Listen to the host while the block runs."""
        tasks = [
            asyncio.create_task(self._follow(), name="page events"),
            asyncio.create_task(self._watch_waiting(), name="page waiting"),
        ]
        try:
            yield
        finally:
            self.close()
            await cancel_and_wait(*tasks, self._calls)

    def tell(self, kind: str, **what: Any) -> None:
        """Add an event to the series."""
        self._number += 1
        body = encode({"seq": self._number, "kind": kind, **what})
        event = b"id: %b\ndata: %b\n\n" % (f"{self.run}-{self._number}".encode(), body)
        self._kept.append((self._number, event))
        self.wake()

    def wake(self) -> None:
        """Let every stream look around."""
        before, self._news = self._news, asyncio.Event()
        before.set()

    def close(self) -> None:
        """End every stream."""
        self.closed = True
        self.wake()

    @property
    def has_room(self) -> bool:
        """True while one more page may listen."""
        return self.pages < MOST_PAGES and not self.closed

    async def stream(self, last_event_id: str, is_welcome: Callable[[], bool]) -> AsyncGenerator[bytes, None]:
        """The series from this event on, as server-sent events; ends when the page is welcome no more."""
        self._enter()
        try:
            position = self._position(last_event_id)
            yield self._hello(resumed=position is not None and bool(last_event_id))
            if position is None:
                position = self._number
                if last_event_id:
                    yield self._reset()
            while not self.closed and is_welcome():
                news = self._news
                if self._kept and self._kept[0][0] > position + 1:
                    yield self._reset()
                    position = self._number
                batch = [event for number, event in self._kept if number > position]
                if batch:
                    position = self._number
                    yield b"".join(batch)
                elif not await _within(news, HEARTBEAT):
                    yield b":\n\n"
        finally:
            self._leave()

    def _position(self, last_event_id: str) -> int | None:
        run, _, number = last_event_id.rpartition("-")
        if run != self.run or not number.isdecimal():
            return None
        position = int(number)
        first = self._kept[0][0] if self._kept else self._number + 1
        return position if first - 1 <= position <= self._number else None

    def _hello(self, *, resumed: bool) -> bytes:
        return self._aside("hello", run=self.run, resumed=resumed)

    def _reset(self) -> bytes:
        return self._aside("reset")

    def _aside(self, kind: str, **what: Any) -> bytes:
        """An event for one page alone; it has the number of the latest of the series."""
        body = encode({"seq": self._number, "kind": kind, **what})
        return b"id: %b\ndata: %b\n\n" % (f"{self.run}-{self._number}".encode(), body)

    def _enter(self) -> None:
        self.pages += 1
        if self._calls is None:
            self._calls = asyncio.create_task(self._follow_calls(), name="page calls")

    def _leave(self) -> None:
        self.pages -= 1
        if not self.pages and self._calls is not None:
            self._calls.cancel()
            self._calls = None

    async def _follow(self) -> None:
        with self._host.events.subscribe(without=CallFinished) as news:
            self._look.set()
            dropped = 0
            async for event in news:
                if news.dropped != dropped:
                    dropped = news.dropped
                    self._forget()
                if worth_a_look(event):
                    self._look.set()
                shown = shown_event(self._host, event)
                if shown is not None:
                    self.tell(**shown)

    def _forget(self) -> None:
        """Something was lost: nobody can go on from what came before it."""
        self._kept.clear()
        self._number += 1
        self.tell("reset")

    async def _follow_calls(self) -> None:
        """Calls one by one while they are few, else counted; and how many run."""
        telling = CallTelling(self._host, self.tell)
        # What happened while nobody looked is not in the series.
        self.tell("calls", count=0)
        with self._host.events.subscribe() as news:
            while True:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(TICK):
                        while True:
                            event = await news.next()
                            if isinstance(event, CallFinished):
                                telling.take(event.record)
                telling.tick()

    async def _watch_waiting(self) -> None:
        while True:
            await self._look.wait()
            await asyncio.sleep(SETTLING)
            self._look.clear()
            shown, items = await waiting_event(self._host)
            if items != self._told_waiting:
                self._told_waiting = items
                self.tell(**shown)


async def _within(news: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await news.wait()
    except TimeoutError:
        return False
    return True
