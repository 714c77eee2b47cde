"""Sends the host's events to every open page, as one numbered series that a page can resume. Number of open
pages, events kept for a reconnect, heartbeat, and how many calls per second are shown one by one.

There is one subscription to the host's events for all pages; calls are followed only while a page is open.
The latest events are kept: a page that reconnects resumes where it was, and one that was away too long, or
followed another run of the host, is told to fetch everything again. A slow page delays nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from operator import attrgetter
from typing import Any

from toolcrib.host import Host
from toolcrib.operations.approvals import gather_waiting
from toolcrib.operations.results.calls import record_json
from toolcrib.operations.results.servers import server_shown
from toolcrib.operations.results.setups import setup_json
from toolcrib.schema.events import (
    CallFinished,
    ConfigChanged,
    Event,
    Noticed,
    RunChanged,
    ServerChanged,
    ServerRemoved,
    SetupForgotten,
    SetupTold,
    ToolsChanged,
    TurnTold,
    WaitingChanged,
    WorkflowsChanged,
)
from toolcrib.schema.json_values import to_json
from toolcrib.schema.tools import CallRecord
from toolcrib.serverkit.encoding import encode
from toolcrib.store.incidents import unconfirmed
from toolcrib.tasks import cancel_and_wait

CALLS_A_TICK = 2
"""Calls with an event of their own between two ticks; further ones are only counted."""

KEPT = 2000
"""Events kept for pages that reconnect."""
HEARTBEAT = 10.0
MAX_PAGES = 64
TOTAL = attrgetter("total")
SETTLING = 0.1
"""Seconds in which changes to the list of what waits are combined."""
TICK = 0.5
"""Seconds between updates of the number of running calls, and of the event rate."""


def shown_event(host: Host, event: Event) -> dict[str, Any] | None:
    """The event for pages; None if pages do not need it."""
    if isinstance(event, ServerChanged):
        return {"kind": "server", "server": to_json(server_shown(event.status, host))}
    if isinstance(event, ServerRemoved):
        return {"kind": "server_removed", "name": event.name}
    if isinstance(event, ToolsChanged):
        return {"kind": "tools", "version": event.version, "server": event.server}
    if isinstance(event, ConfigChanged):
        return {"kind": "config", "error": event.error, "changed": list(event.changed)}
    if isinstance(event, SetupTold):
        return {"kind": "setup", "setup": to_json(setup_json(event.status))}
    if isinstance(event, SetupForgotten):
        return {"kind": "setup_forgotten", "name": event.name}
    if isinstance(event, TurnTold):
        shown = dict(event.event)
        return {"kind": "chat", "chat": event.chat, "turn": event.turn, "n": event.number, "event": shown}
    if isinstance(event, Noticed):
        undo = None if event.undo is None else dict(event.undo)
        return {"kind": "notice", "text": event.text, "undo": undo}
    if isinstance(event, WorkflowsChanged):
        return {"kind": "workflow", "name": event.name}
    if isinstance(event, RunChanged):
        return {"kind": "run", "run": event.run, "step": event.step}
    return None


def changes_waiting(event: Event) -> bool:
    """Whether the list of what waits for the user may have changed."""
    return isinstance(event, WaitingChanged | ServerChanged | ServerRemoved | ToolsChanged | RunChanged)


async def waiting_event(host: Host) -> tuple[dict[str, Any], list[Any]]:
    """The event about what waits for the user, and the full list to compare with."""
    items = await gather_waiting(host)
    return {"kind": "waiting", "count": len(items), "oldest": items[0] if items else None}, list(items)


class CallEvents:
    """Publishes calls at a rate that a page can show."""

    def __init__(self, host: Host, publish: Callable[..., None]) -> None:
        self._counts = host.toolset.caller.counts
        self._publish = publish
        self._published = 0
        self._counted = 0
        self._running = 0

    def add(self, record: CallRecord) -> None:
        if self._published < CALLS_A_TICK:
            self._published += 1
            self._publish("call", record=record_json(record))
        else:
            self._counted += 1

    def tick(self) -> None:
        if self._counted:
            self._publish("calls", count=self._counted)
        self._published = self._counted = 0
        running = self._counts.in_flight
        if running != self._running:
            self._running = running
            self._publish("running", count=running)


class Hub:
    """The series of events. `run` identifies this run of the host and is part of every event's id."""

    def __init__(self, host: Host) -> None:
        self.run = secrets.token_hex(4)
        self.pages = 0
        self.closed = False
        self._host = host
        self._kept: deque[tuple[int, bytes]] = deque(maxlen=KEPT)
        self._number = 0
        self._changed = asyncio.Event()
        self._look = asyncio.Event()
        self._calls: asyncio.Task[None] | None = None
        self._tallies = host.toolset.caller.counts.tallies
        self._ended = 0
        self._published_waiting: list[Any] | None = None

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Follow the host's events while the block runs."""
        tasks = [
            asyncio.create_task(self._follow(), name="page events"),
            asyncio.create_task(self._watch_waiting(), name="page waiting"),
        ]
        try:
            yield
        finally:
            self.close()
            await cancel_and_wait(*tasks, self._calls)

    def publish(self, kind: str, **fields: Any) -> None:
        """Add an event to the series."""
        self._number += 1
        body = encode({"seq": self._number, "kind": kind, **fields})
        event = b"id: %b\ndata: %b\n\n" % (f"{self.run}-{self._number}".encode(), body)
        self._kept.append((self._number, event))
        self.wake()

    def wake(self) -> None:
        """Wake every stream to check for events and for its end."""
        before, self._changed = self._changed, asyncio.Event()
        before.set()

    def close(self) -> None:
        """End every stream."""
        self.closed = True
        self.wake()

    @property
    def has_room(self) -> bool:
        """Whether another page may connect."""
        return self.pages < MAX_PAGES and not self.closed

    def meet(self) -> str:
        """The id of the latest event, for a page that will ask for later ones.

        Calls that end while no page is open have no event, but a number, so that an older answer shows.
        """
        if self._calls is None and (ended := sum(map(TOTAL, self._tallies))) != self._ended:
            self._ended = ended
            self._number += 1
        return f"{self.run}-{self._number}"

    async def stream(
        self, last_event_id: str, latest: str, is_signed_in: Callable[[], bool]
    ) -> AsyncGenerator[bytes, None]:
        """The events after `last_event_id`, or after `latest` if it is unknown, as server-sent events; ends
        when the page is signed out."""
        self._enter()
        try:
            known = self._position(last_event_id)
            position = int(latest.rpartition("-")[2]) if known is None else known
            yield self._single("hello", run=self.run, resumed=known is not None and bool(last_event_id))
            if known is None and last_event_id:
                yield self._single("reset")
            if (incident := await asyncio.to_thread(unconfirmed, self._host.paths.database)) is not None:
                yield self._single("notice", text=" ".join(incident), undo=None)
            while not self.closed and is_signed_in():
                changed = self._changed
                if self._kept and self._kept[0][0] > position + 1:
                    yield self._single("reset")
                    position = self._number
                batch = [event for number, event in self._kept if number > position]
                if batch:
                    position = self._number
                    yield b"".join(batch)
                elif not await _within(changed, HEARTBEAT):
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

    def _single(self, kind: str, **fields: Any) -> bytes:
        """An event for a single page; it repeats the number of the latest event."""
        body = encode({"seq": self._number, "kind": kind, **fields})
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
            # Calls that end from now on are not in the series: a page that resumes from before asks for all.
            self.publish("calls", count=0)

    async def _follow(self) -> None:
        with self._host.events.subscribe(without=CallFinished) as events:
            self._look.set()
            dropped = 0
            async for event in events:
                if events.dropped != dropped:
                    dropped = events.dropped
                    self._forget()
                if changes_waiting(event):
                    self._look.set()
                shown = shown_event(self._host, event)
                if shown is not None:
                    self.publish(**shown)

    def _forget(self) -> None:
        """Events were lost: no page can resume from before."""
        self._kept.clear()
        self._number += 1
        self.publish("reset")

    async def _follow_calls(self) -> None:
        """Publish calls one by one while they are few, else their count; and the number of running calls."""
        calls = CallEvents(self._host, self.publish)
        with self._host.events.subscribe() as events:
            while True:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(TICK):
                        while True:
                            event = await events.next()
                            if isinstance(event, CallFinished):
                                calls.add(event.record)
                calls.tick()

    async def _watch_waiting(self) -> None:
        while True:
            await self._look.wait()
            await asyncio.sleep(SETTLING)
            self._look.clear()
            shown, items = await waiting_event(self._host)
            if items != self._published_waiting:
                self._published_waiting = items
                self.publish(**shown)


async def _within(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
