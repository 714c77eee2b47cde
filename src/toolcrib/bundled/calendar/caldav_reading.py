"""Turns the objects of a CalDAV calendar into events; one that cannot be read does not affect the others."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from icalendar import Component

from toolcrib.accounts.dav_xml import DavItem
from toolcrib.bundled.calendar.caldav_queries import StoredObject
from toolcrib.bundled.calendar.ics import (
    address_of,
    attendees_of,
    read_calendar,
    reminders_of,
    rules_of,
    searchable,
    text,
)
from toolcrib.bundled.calendar.identifiers import EventRef
from toolcrib.bundled.calendar.model import CalendarInfo, Event, Listing, Window
from toolcrib.bundled.calendar.occurrences import Expansion, Occurrence
from toolcrib.bundled.calendar.search import matches

MAX_SECONDS = 45.0
"""For the objects of one calendar."""
logger = logging.getLogger(__name__)


def read_listing(
    items: Sequence[DavItem], calendar: CalendarInfo, window: Window, query: str, own: Sequence[str]
) -> Listing:
    """The occurrences of all objects; blocking."""
    listing = Listing()
    end = time.monotonic() + MAX_SECONDS
    for item in items:
        if time.monotonic() > end:
            listing.remarks.append(f"{calendar.name} has too many events to read all: ask for less time.")
            break
        stored = StoredObject.read(item)
        if stored is not None and (not query or matches(query, searchable(stored.data))):
            _read_object(stored, calendar, window, own, listing)
    if query:
        listing.events[:] = [event for event in listing.events if matches(query, _content(event))]
    return listing


def _read_object(
    stored: StoredObject, calendar: CalendarInfo, window: Window, own: Sequence[str], listing: Listing
) -> None:
    name = stored.url.rstrip("/").rpartition("/")[2][:60]
    zone = window.start.tzinfo
    assert zone is not None
    try:
        expansion = Expansion(read_calendar(stored.data), zone)
        found = expansion.within(window)
        masters = {text(each, "UID"): each for each in expansion.masters}
        listing.events.extend(
            event_of(
                EventRef(calendar.id, text(each.component, "UID"), each.key),
                each,
                masters.get(text(each.component, "UID")),
                own,
            )
            for each in found
        )
    except Exception:
        logger.info("an object of a calendar cannot be read", exc_info=True)
        listing.remarks.append(f"An event of {calendar.name} cannot be read ({name}).")
        return
    listing.remarks.extend(f"In {calendar.name}: {remark}." for remark in expansion.remarks)
    listing.remarks.extend(
        f"In {calendar.name}: the time zone {zone[:40]!r} is unknown; local time is assumed."
        for zone in sorted(expansion.zones.unknown)
    )


def event_of(ref: EventRef, occurrence: Occurrence, master: Component | None, own: Sequence[str]) -> Event:
    """An occurrence as an event."""
    component = occurrence.component
    organizer = address_of(component.get("ORGANIZER"))
    attendees = attendees_of(component)
    declined = any(each.response == "declined" and each.address.lower() in own for each in attendees)
    return Event(
        id=str(ref),
        calendar=ref.calendar,
        title=text(component, "SUMMARY"),
        start=occurrence.start,
        end=occurrence.end,
        location=text(component, "LOCATION"),
        description=text(component, "DESCRIPTION"),
        attendees=attendees,
        organizer=organizer,
        mine=not organizer or not own or organizer.lower() in own,
        status=(text(component, "STATUS") or "confirmed").lower(),
        transparent=declined or text(component, "TRANSP").upper() == "TRANSPARENT",
        rules=rules_of(master) if master is not None else (),
        recurring=bool(occurrence.key),
        reminders=reminders_of(component),
        link=text(component, "URL"),
    )


def _content(event: Event) -> str:
    people = " ".join(map(str, event.attendees))
    parts = (event.title, event.location, event.description, people, event.organizer)
    return " ".join(parts).casefold()
