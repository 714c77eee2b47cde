"""Busy and free times from events."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from toolcrib.bundled.calendar.model import Busy, CalendarInfo, Event, Window, instant
from toolcrib.bundled.calendar.sessions import CalendarSession
from toolcrib.errors import ToolcribError


@dataclass(frozen=True)
class BusyTimes:
    """When someone is busy, as far as it is known."""

    spans: list[Busy] = field(default_factory=list)
    problem: str = ""
    """Why it is not known, or not completely."""
    answered: bool = True
    """Whether anything is known."""


async def busy_of(
    session: CalendarSession, calendars: list[str] | None, addresses: Sequence[str], window: Window
) -> dict[str, BusyTimes]:
    """Busy times by calendar and address; all own calendars if none of either is named."""
    found: dict[str, BusyTimes] = {}
    if calendars or not addresses:
        chosen = await _chosen(session, calendars)
        found.update(zip([each.name for each in chosen], await _own(session, chosen, window), strict=True))
    if addresses:
        others = await session.calendars.busy(addresses, window)
        found.update({who: _merged(others.get(who, "There was no answer."), window) for who in addresses})
    return found


async def _chosen(session: CalendarSession, names: list[str] | None) -> list[CalendarInfo]:
    if names:
        return [await session.calendar(name) for name in names]
    return await session.calendars.calendars()


async def _own(session: CalendarSession, calendars: list[CalendarInfo], window: Window) -> list[BusyTimes]:
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


def _merged(given: list[Busy] | str, window: Window) -> BusyTimes:
    return (
        BusyTimes(problem=given, answered=False)
        if isinstance(given, str)
        else BusyTimes(merge(given, window))
    )


def merge(spans: Iterable[Busy], window: Window) -> list[Busy]:
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


def _placed(span: Busy, window: Window) -> tuple[datetime, datetime]:
    start, end = (
        instant(each, window.start).astimezone(window.start.tzinfo) for each in (span.start, span.end)
    )
    return max(start, window.start), min(end, window.end)


def free_between(busy: Iterable[Busy], window: Window) -> list[Busy]:
    """What is left of the window."""
    free: list[Busy] = []
    at = window.start
    for span in merge(busy, window):
        start, end = _placed(span, window)
        if start > at:
            free.append(Busy(at, start))
        at = max(at, end)
    return [*free, Busy(at, window.end)] if at < window.end else free
