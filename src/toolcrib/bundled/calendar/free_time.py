"""Busy and free times from events."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime

from toolcrib.bundled.calendar.model import Busy, CalendarInfo, Event, Window, instant
from toolcrib.bundled.calendar.sessions import CalendarSession
from toolcrib.errors import ToolcribError


async def busy_of(
    session: CalendarSession, calendars: list[str] | None, addresses: Sequence[str], window: Window
) -> dict[str, list[Busy] | str]:
    """Busy times by calendar and address; all own calendars if none of either is named."""
    found: dict[str, list[Busy] | str] = {}
    if calendars or not addresses:
        chosen = await _chosen(session, calendars)
        found.update(zip([each.name for each in chosen], await _own(session, chosen, window), strict=True))
    if addresses:
        others = await session.calendars.busy(addresses, window)
        found.update({who: _merged(each, window) for who, each in others.items()})
    return found


async def _chosen(session: CalendarSession, names: list[str] | None) -> list[CalendarInfo]:
    if names:
        return [await session.calendar(name) for name in names]
    return await session.calendars.calendars()


async def _own(
    session: CalendarSession, calendars: list[CalendarInfo], window: Window
) -> list[list[Busy] | str]:
    async def read(calendar: CalendarInfo) -> list[Busy] | str:
        try:
            listing = await session.calendars.events(calendar, window)
        except ToolcribError as error:
            return error.message
        return _merged([Busy(event.start, event.end) for event in listing.events if blocks(event)], window)

    return list(await asyncio.gather(*map(read, calendars)))


def blocks(event: Event) -> bool:
    """Whether an event makes the user busy."""
    return not event.transparent and event.status != "cancelled"


def _merged(given: list[Busy] | str, window: Window) -> list[Busy] | str:
    return given if isinstance(given, str) else merge(given, window)


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
