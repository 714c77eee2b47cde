"""The tools that read: events, searches, free time and the list of calendars. Decides the most results of a
page, how far a search looks (a year each way), and which events count as busy."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from toolcrib.bundled.calendar.changes import EventChangeTools
from toolcrib.bundled.calendar.inputs import checked_window, read_people, read_time, read_window
from toolcrib.bundled.calendar.model import Busy, CalendarInfo, Event, Listing, TimeWindow, instant, terms
from toolcrib.bundled.calendar.results import (
    BusyResult,
    BusyTime,
    CalendarResult,
    CalendarsResult,
    EventsResult,
    FreeBusyResult,
    calendars_text,
    event_result,
    events_text,
    exact,
    in_order,
    time_text,
)
from toolcrib.bundled.calendar.sessions import CalendarAccounts, CalendarSession
from toolcrib.errors import ToolcribError
from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.results import with_text
from toolcrib.serverkit.server import ToolServer

MAX_RESULTS = 200
SEARCHED = timedelta(days=365)
"""Before and after now, unless the model says otherwise."""
_READS: Any = {
    "read_only": True,
    "idempotent": True,
    "open_world": True,
    "outside": True,
    "private": True,
    "reach": "account",
}


@dataclass(frozen=True)
class BusyTimes:
    """When someone is busy, as far as it is known."""

    spans: list[Busy] = field(default_factory=list)
    problem: str = ""
    """Why it is not known, or not completely."""
    answered: bool = True
    """Whether anything is known."""


async def busy_of(
    session: CalendarSession, calendars: list[str] | None, addresses: Sequence[str], window: TimeWindow
) -> dict[str, BusyTimes]:
    """Busy times by calendar and address; all own calendars if none of either is named."""
    found: dict[str, BusyTimes] = {}
    if calendars or not addresses:
        chosen = await _chosen(session, calendars)
        found.update(
            zip([calendar.name for calendar in chosen], await _own(session, chosen, window), strict=True)
        )
    if addresses:
        others = await session.calendars.busy(addresses, window)
        found.update({who: _merged(others.get(who, "There was no answer."), window) for who in addresses})
    return found


async def _chosen(session: CalendarSession, names: list[str] | None) -> list[CalendarInfo]:
    if names:
        return [await session.calendar(name) for name in names]
    return await session.calendars.calendars()


async def _own(
    session: CalendarSession, calendars: list[CalendarInfo], window: TimeWindow
) -> list[BusyTimes]:
    async def read(calendar: CalendarInfo) -> BusyTimes:
        try:
            listing = await session.calendars.events(calendar, window)
        except ToolcribError as error:
            return BusyTimes(problem=error.message, answered=False)
        spans = [Busy(event.start, event.end) for event in listing.events if blocks(event)]
        return BusyTimes(merge(spans, window), " ".join(dict.fromkeys(listing.remarks)))

    return list(await asyncio.gather(*map(read, calendars)))


def blocks(event: Event) -> bool:
    """Whether an event makes the user busy."""
    return not event.transparent and event.status != "cancelled"


def _merged(given: list[Busy] | str, window: TimeWindow) -> BusyTimes:
    return (
        BusyTimes(problem=given, answered=False)
        if isinstance(given, str)
        else BusyTimes(merge(given, window))
    )


def merge(spans: Iterable[Busy], window: TimeWindow) -> list[Busy]:
    """The spans inside the window, in order and without overlaps."""
    merged: list[tuple[datetime, datetime]] = []
    for start, end in sorted(_placed(span, window) for span in spans):
        if end <= start:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return [Busy(start, end) for start, end in merged]


def _placed(span: Busy, window: TimeWindow) -> tuple[datetime, datetime]:
    start, end = (
        instant(moment, window.start).astimezone(window.start.tzinfo) for moment in (span.start, span.end)
    )
    return max(start, window.start), min(end, window.end)


def free_between(busy: Iterable[Busy], window: TimeWindow) -> list[Busy]:
    """What is left of the window."""
    free: list[Busy] = []
    at = window.start
    for span in merge(busy, window):
        start, end = _placed(span, window)
        if start > at:
            free.append(Busy(at, start))
        at = max(at, end)
    return [*free, Busy(at, window.end)] if at < window.end else free


class CalendarTools:
    """The tools over the accounts of a home."""

    def __init__(self, accounts: CalendarAccounts) -> None:
        self._accounts = accounts

    def offer(self, server: ToolServer) -> None:
        server.tool(title="Get events", **_READS)(self.get_events)
        server.tool(title="Search events", **_READS)(self.search_events)
        EventChangeTools(self._accounts).offer(server)
        server.tool(title="Get free and busy times", **_READS)(self.get_free_busy)
        server.tool(title="List calendars", **_READS)(self.list_calendars)

    async def get_events(
        self,
        context: ToolContext,
        days: int | None = None,
        start: str | None = None,
        end: str | None = None,
        calendar: str | None = None,
        max_results: int = 50,
        page: int = 1,
        account: str | None = None,
    ) -> EventsResult:
        async with self._accounts.open(account, context) as session:
            window = read_window(days, start, end, session.now)
            listing = await session.listed(calendar, window)
            return _page(session, listing, window, max_results, page)

    async def search_events(
        self,
        context: ToolContext,
        query: str,
        start: str | None = None,
        end: str | None = None,
        calendar: str | None = None,
        max_results: int = 25,
        page: int = 1,
        account: str | None = None,
    ) -> EventsResult:
        if not terms(query):
            raise ToolFailure("The query is empty.", "Give a word to search for, or use get_events.")
        async with self._accounts.open(account, context) as session:
            window = _searched(start, end, session)
            listing = await session.listed(calendar, window, query)
            return _page(session, listing, window, max_results, page)

    async def get_free_busy(
        self,
        context: ToolContext,
        start: str,
        end: str,
        calendars: list[str] | None = None,
        attendees: list[str] | None = None,
        account: str | None = None,
    ) -> FreeBusyResult:
        people = read_people(attendees) or ()
        async with self._accounts.open(account, context) as session:
            window = read_window(None, start, end, session.now)
            found = await busy_of(session, calendars, [person.address for person in people], window)
            return _free_busy(session, window, found)

    async def list_calendars(self, context: ToolContext, account: str | None = None) -> CalendarsResult:
        async with self._accounts.open(account, context) as session:
            found = await session.calendars.calendars()
        listed = [
            CalendarResult(
                id=calendar.id,
                name=calendar.name,
                default=calendar.primary,
                writable=calendar.writable,
                time_zone=calendar.time_zone,
                description=calendar.description[:200],
            )
            for calendar in found
        ]
        return with_text(
            calendars_text(found), CalendarsResult(account=session.account.name, calendars=listed)
        )


def _searched(start: str | None, end: str | None, session: CalendarSession) -> TimeWindow:
    """A year before and after now, or around the end that is given."""
    now = session.now
    if start and end:
        return read_window(None, start, end, now)
    if start:
        first = instant(read_time(start, now), now)
        return checked_window(first, first + 2 * SEARCHED)
    if end:
        last = instant(read_time(end, now), now)
        return checked_window(last - 2 * SEARCHED, last)
    return TimeWindow(now - SEARCHED, now + SEARCHED)


def _page(
    session: CalendarSession, listing: Listing, window: TimeWindow, max_results: int, page: int
) -> EventsResult:
    size = max(1, min(max_results, MAX_RESULTS))
    events = in_order(listing.events, window.start)
    pages = max(1, math.ceil(len(events) / size))
    if not 1 <= page <= pages:
        raise ToolFailure(f"There is no page {page}.", f"The result has {pages} pages.")
    part = events[(page - 1) * size : page * size]
    remarks = list(dict.fromkeys(listing.remarks))[:10]
    footer = [f"Note: {remark}" for remark in remarks]
    if pages > 1:
        footer.append(f"Page {page} of {pages}, {len(events)} events in all; continue with `page`.")
    result = EventsResult(
        account=session.account.name,
        events=[event_result(event) for event in part],
        total=len(events),
        page=page,
        pages=pages,
        remarks=remarks,
    )
    return with_text(events_text(part, session.zone, footer), result)


def _free_busy(session: CalendarSession, window: TimeWindow, found: dict[str, BusyTimes]) -> FreeBusyResult:
    busy = [
        BusyResult(who=who, busy=[_time(span) for span in busy.spans], problem=busy.problem)
        for who, busy in found.items()
    ]
    unknown = [who for who, busy in found.items() if busy.problem]
    known = any(busy.answered for busy in found.values())
    free = free_between([span for busy in found.values() for span in busy.spans], window) if known else []
    lines = [f"{who}: {_busy_text(busy, session)}" for who, busy in found.items()]
    others = f" (as far as known; not known or not completely: {', '.join(unknown)})" if unknown else ""
    lines.append(f"Free{others}: {_spans(free, session)}" if known else "Free: not known")
    result = FreeBusyResult(
        account=session.account.name,
        start=exact(window.start),
        end=exact(window.end),
        busy=busy,
        free=[_time(span) for span in free],
        unknown=unknown,
    )
    return with_text("\n".join(lines), result)


def _busy_text(busy: BusyTimes, session: CalendarSession) -> str:
    if not busy.answered:
        return f"not known. {busy.problem}"
    return f"{_spans(busy.spans, session)}{f' (not complete: {busy.problem})' if busy.problem else ''}"


def _time(span: Any) -> BusyTime:
    return BusyTime(start=exact(span.start), end=exact(span.end))


def _spans(spans: Any, session: CalendarSession) -> str:
    return (
        "; ".join(
            f"{time_text(span.start, session.zone)} to {time_text(span.end, session.zone)}" for span in spans
        )
        or "nothing"
    )
