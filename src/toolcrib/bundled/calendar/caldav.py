"""Calendars on a CalDAV server: reads and changes events, keeps series, sends answers to invitations. Decides
the time to read a calendar, how long a server's address is remembered, retries after a conflict, and remarks
about notifications.

The server selects objects by time, the occurrences are computed here. Changes are made to the object as
stored, and only if it is unchanged since it was read (ETag). When others are busy is asked with an iTIP
request to the user's own outbox (RFC 6638).
"""

from __future__ import annotations

import asyncio
import logging
import time
import xml.etree.ElementTree as ET
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple, TypeVar
from urllib.parse import quote
from xml.etree.ElementTree import Element

from icalendar import Component

from toolcrib.accounts import Account, AccountStore
from toolcrib.accounts.dav import DavConnection, DavFailed, open_dav
from toolcrib.accounts.dav_discovery import DavHome, find_home, list_calendars
from toolcrib.accounts.dav_xml import CALDAV, DAV, DavItem, body, element
from toolcrib.bundled.calendar.ics import (
    UNREADABLE,
    address_of,
    as_data,
    attendees_of,
    busy_periods,
    busy_request,
    new_calendar,
    read_calendar,
    reminders_of,
    rules_of,
    searchable,
    set_response,
    text,
)
from toolcrib.bundled.calendar.identifiers import EventRef, occurrence_key
from toolcrib.bundled.calendar.model import (
    Busy,
    CalendarInfo,
    Event,
    EventChanges,
    Listing,
    NewEvent,
    Scope,
    TimeWindow,
    check_organizer,
    conflict,
    matches,
    not_found,
    not_invited,
)
from toolcrib.bundled.calendar.occurrences import Expansion, Occurrence, repeats
from toolcrib.bundled.calendar.series import StoredSeries
from toolcrib.bundled.calendar.sessions import OpenCalendars
from toolcrib.serverkit.context import ToolFailure

_UNSUPPORTED = "This calendar server cannot look up the time of others."

_MARGIN = timedelta(hours=15)
"""Floating times and days can be that far from UTC; what is outside of the window is sorted out later."""

MAX_SECONDS = 45.0
"""For the objects of one calendar."""
logger = logging.getLogger(__name__)
R = TypeVar("R")

HOME_LIFETIME = 600.0
"""Seconds for which a discovered home is used again."""
ATTEMPTS = 2
"""A change is made again on the newer object if someone else changed it in between."""


async def ask_outbox(
    connection: DavConnection, home: DavHome, own: Sequence[str], addresses: Sequence[str], window: TimeWindow
) -> dict[str, list[Busy] | str]:
    """When each address is busy, or why that is not known."""
    if not home.outbox or not own:
        return dict.fromkeys(addresses, _UNSUPPORTED)
    answer = await connection.request(
        "POST",
        home.outbox,
        content=busy_request(own[0], addresses, window),
        headers={"Content-Type": "text/calendar; charset=utf-8; method=REQUEST"},
    )
    found = _read(answer.content)
    return {
        address: found.get(address.lower(), "The server does not know this address.") for address in addresses
    }


def _read(content: bytes) -> dict[str, list[Busy] | str]:
    if b"<!DOCTYPE" in content[:4096]:
        return {}
    try:
        root = ET.fromstring(content)  # noqa: S314 - no document type, so no entities
    except ET.ParseError:
        return {}
    found: dict[str, list[Busy] | str] = {}
    for response in root.iter(f"{{{CALDAV}}}response"):
        address = "".join(response.findtext(f".//{{{DAV}}}href") or "").strip().lower()
        data = response.findtext(f"{{{CALDAV}}}calendar-data")
        status = (response.findtext(f"{{{CALDAV}}}request-status") or "2").strip()
        answer = busy_periods(data) if data and status.startswith("2") else "The server gave no answer."
        found[address.removeprefix("mailto:")] = answer
    return found


@dataclass(frozen=True)
class StoredObject:
    """A resource with one event or series."""

    url: str
    etag: str
    data: str

    @classmethod
    def read(cls, item: DavItem) -> StoredObject | None:
        data = item.text("c:calendar-data")
        return cls(item.href, item.text("d:getetag"), data) if data else None

    def has_uid(self, uid: str) -> bool:
        """Some servers ignore the filter of a query."""
        try:
            return any(str(event.get("UID", "")) == uid for event in read_calendar(self.data).walk("VEVENT"))
        except ValueError:
            return False

    @property
    def loses_lines(self) -> bool:
        """Whether writing it again would drop something."""
        events = read_calendar(self.data).walk()
        return any(name is None for event in events for name, _ in getattr(event, "errors", ()))


def query_time(window: TimeWindow) -> bytes:
    """All events that may touch a window."""
    span = element("c:time-range", start=_stamp(window.start - _MARGIN), end=_stamp(window.end + _MARGIN))
    return _query(span)


def query_uid(uid: str) -> bytes:
    """The object of an event."""
    match = element("c:text-match", text=uid, collation="i;octet")
    return _query(element("c:prop-filter", match, name="UID"))


def _query(condition: Element) -> bytes:
    events = element("c:comp-filter", condition, name="VEVENT")
    return body(
        element(
            "c:calendar-query",
            element("d:prop", element("d:getetag"), element("c:calendar-data")),
            element("c:filter", element("c:comp-filter", events, name="VCALENDAR")),
        )
    )


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def read_listing(
    items: Sequence[DavItem], calendar: CalendarInfo, window: TimeWindow, query: str, own: Sequence[str]
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
    stored: StoredObject, calendar: CalendarInfo, window: TimeWindow, own: Sequence[str], listing: Listing
) -> None:
    name = stored.url.rstrip("/").rpartition("/")[2][:60]
    zone = window.start.tzinfo
    assert zone is not None
    try:
        expansion = Expansion(read_calendar(stored.data), zone)
        found = expansion.within(window)
        masters = {text(master, "UID"): master for master in expansion.masters}
        listing.events.extend(
            event_of(
                EventRef(calendar.id, text(occurrence.component, "UID"), occurrence.key),
                occurrence,
                masters.get(text(occurrence.component, "UID")),
                own,
            )
            for occurrence in found
        )
    except UNREADABLE:
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
    declined = any(
        attendee.response == "declined" and attendee.address.lower() in own for attendee in attendees
    )
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


class _KnownHome(NamedTuple):
    account: Account
    home: DavHome
    found_at: float


class _KnownHomes:
    """Connects to the servers of accounts; remembers their homes for a while."""

    def __init__(self, store: AccountStore) -> None:
        self._store = store
        self._homes: list[_KnownHome] = []

    @asynccontextmanager
    async def open(self, account: Account, zone: tzinfo) -> AsyncIterator[DavCalendars]:
        secret = await asyncio.to_thread(self._store.secret, account)
        async with open_dav(account, secret) as connection:
            yield DavCalendars(connection, account, await self._home(connection, account), zone)

    async def _home(self, connection: DavConnection, account: Account) -> DavHome:
        accounts, oldest = await asyncio.to_thread(self._store.all), time.monotonic() - HOME_LIFETIME
        self._homes = [
            known for known in self._homes if known.account in accounts and known.found_at > oldest
        ]
        for known in self._homes:
            if known.account == account:
                return known.home
        home = await find_home(connection)
        self._homes.append(_KnownHome(account, home, time.monotonic()))
        return home


def provider(store: AccountStore) -> OpenCalendars:
    """See `OpenCalendars`."""
    return _KnownHomes(store).open


@dataclass
class DavCalendars:
    """The calendars of one account, for one call."""

    connection: DavConnection
    account: Account
    home: DavHome
    zone: tzinfo
    _known: list[CalendarInfo] = field(default_factory=list)
    _read: dict[EventRef, StoredObject] = field(default_factory=dict)
    """Objects that a change can start from; the server refuses it if they are outdated."""

    async def calendars(self) -> list[CalendarInfo]:
        if not self._known:
            self._known = await self._list()
        return self._known

    async def _list(self) -> list[CalendarInfo]:
        found = await list_calendars(self.connection, self.home)
        default = next((calendar.id for calendar in found if calendar.writable), "")
        shown = [
            CalendarInfo(
                id=calendar.id,
                name=calendar.name,
                writable=calendar.writable and not self.account.read_only,
                primary=calendar.id == default,
                time_zone=calendar.time_zone,
                description=calendar.description,
                url=calendar.url,
            )
            for calendar in found
        ]
        return sorted(shown, key=lambda calendar: not calendar.primary)

    async def events(self, calendar: CalendarInfo, window: TimeWindow, query: str = "") -> Listing:
        items = await self.connection.report(calendar.url, query_time(window))
        return await asyncio.to_thread(read_listing, items, calendar, window, query, self.addresses)

    @property
    def addresses(self) -> tuple[str, ...]:
        """The user's own addresses."""
        own = (self.account.user.lower(),) if "@" in self.account.user else ()
        return tuple(dict.fromkeys((*self.home.addresses, *own)))

    async def event(self, ref: EventRef) -> Event:
        calendar = await self._calendar(ref)
        stored = self._read[ref.series] = await self._stored(calendar, ref)
        return self._shown(self._series(stored), ref)

    async def create(self, calendar: CalendarInfo, new: NewEvent, notify: bool) -> tuple[Event, list[str]]:
        made = new_calendar(new, self._organizer(bool(new.attendees)), notify)
        series = StoredSeries(made, self.zone)
        uid = str(made.walk("VEVENT")[0]["UID"])
        await self._put_new(calendar, uid, series)
        first = occurrence_key(new.start) if new.rules else ""
        shown = self._shown(series, EventRef(calendar.id, uid, first))
        return shown, await self._invitation_remarks(calendar, bool(new.attendees), notify)

    async def update(
        self, ref: EventRef, changes: EventChanges, scope: Scope, notify: bool
    ) -> tuple[Event, list[str]]:
        calendar = await self._calendar(ref)
        series, now = await self._on_newest(
            calendar, ref, lambda stored: self._change(calendar, stored, ref, changes, scope, notify)
        )
        shown = self._shown(series, now)
        invited = bool(shown.attendees) and shown.mine
        return shown, [*await self._invitation_remarks(calendar, invited, notify), *series.lost]

    async def _on_newest(
        self, calendar: CalendarInfo, ref: EventRef, change: Callable[[StoredObject], Awaitable[R]]
    ) -> R:
        """Make a change, once more if someone else changed the object in between."""
        for attempt in range(1, ATTEMPTS + 1):
            stored = self._read.pop(ref.series, None) or await self._stored(calendar, ref)
            try:
                return await change(stored)
            except DavFailed as error:
                if error.status != 412:
                    raise ToolFailure(error.message, error.hint) from error
                if attempt == ATTEMPTS:
                    raise conflict() from error
        raise AssertionError("unreachable")

    async def _change(
        self,
        calendar: CalendarInfo,
        stored: StoredObject,
        ref: EventRef,
        changes: EventChanges,
        scope: Scope,
        notify: bool,
    ) -> tuple[StoredSeries, EventRef]:
        series = self._series(stored, notify=notify, invites=bool(changes.attendees))
        self._check_organizer(series, changes)
        if changes.response is not None:
            self._respond(series, ref, scope, changes)
        is_series = series.master is not None and repeats(series.master)
        if scope == "following" and is_series and not series.starts_at(ref.occurrence):
            return await self._change_following(calendar, stored, series, ref, changes)
        if scope == "this" and ref.occurrence:
            series.change_one(ref.occurrence, changes)
            now = ref
        else:
            series.change_all(ref.occurrence, changes)
            now = self._first(ref, series) if changes.moves or changes.rules is not None else ref
        await self._put(stored, series)
        return series, now

    async def _change_following(
        self,
        calendar: CalendarInfo,
        stored: StoredObject,
        series: StoredSeries,
        ref: EventRef,
        changes: EventChanges,
    ) -> tuple[StoredSeries, EventRef]:
        later = series.split(ref.occurrence, changes)
        uid = str(later.calendar.walk("VEVENT")[0]["UID"])
        url = await self._put_new(calendar, uid, later)
        try:
            await self._put(stored, series)
        except BaseException:
            await self.connection.request("DELETE", url)
            raise
        return later, self._first(EventRef(ref.calendar, uid), later)

    def _first(self, ref: EventRef, series: StoredSeries) -> EventRef:
        """The first occurrence, after the starts of all of them changed."""
        return EventRef(ref.calendar, ref.uid, series.first_key())

    async def losses(self, ref: EventRef, changes: EventChanges, scope: Scope) -> list[str]:
        stored = self._read.get(ref.series) or await self._stored(await self._calendar(ref), ref)
        series = self._series(stored)
        if scope == "this" or series.master is None or not repeats(series.master):
            return []
        if scope == "following" and ref.occurrence and not series.starts_at(ref.occurrence):
            return series.split(ref.occurrence, changes).lost
        series.change_all(ref.occurrence, changes)
        return series.lost

    async def delete(self, ref: EventRef, scope: Scope, notify: bool) -> list[str]:
        calendar = await self._calendar(ref)
        return await self._on_newest(
            calendar, ref, lambda stored: self._remove(calendar, stored, ref, scope, notify)
        )

    async def _remove(
        self, calendar: CalendarInfo, stored: StoredObject, ref: EventRef, scope: Scope, notify: bool
    ) -> list[str]:
        series = self._series(stored)
        before = self._shown(series, ref)
        whole = False
        if scope == "this" and ref.occurrence:
            series.remove_one(ref.occurrence)
        elif scope == "following" and ref.occurrence and not series.starts_at(ref.occurrence):
            series.remove_following(ref.occurrence)
        else:
            whole = True
        if whole or series.is_empty:
            await self._delete(stored, notify)
        else:
            await self._put(stored, series)
        return await self._invitation_remarks(calendar, bool(before.attendees), notify)

    async def busy(self, addresses: Sequence[str], window: TimeWindow) -> dict[str, list[Busy] | str]:
        return await ask_outbox(self.connection, self.home, self.addresses, addresses, window)

    async def _calendar(self, ref: EventRef) -> CalendarInfo:
        for calendar in await self.calendars():
            if calendar.id == ref.calendar:
                return calendar
        raise ToolFailure(
            f"There is no calendar {ref.calendar[:60]!r} in the account {self.account.name}.",
            "Use an id that get_events returned for this account.",
        )

    async def _stored(self, calendar: CalendarInfo, ref: EventRef) -> StoredObject:
        """The object with the event's UID; raises `ToolFailure`."""
        named = await self._by_name(calendar, ref.uid)
        if named is not None and named.etag.startswith('"'):
            return named
        found = [StoredObject.read(item) for item in await self._by_uid(calendar, ref.uid)]
        match = next((stored for stored in found if stored is not None and stored.has_uid(ref.uid)), named)
        if match is None:
            raise not_found()
        return match

    async def _by_name(self, calendar: CalendarInfo, uid: str) -> StoredObject | None:
        """The object of the usual name: servers search by UID in every object, which takes them seconds."""
        url = f"{calendar.url.rstrip('/')}/{quote(uid, safe='@')}.ics"
        try:
            answer = await self.connection.request("GET", url)
        except DavFailed:
            return None
        data = answer.content.decode("utf-8", "replace")
        named = StoredObject(answer.url, answer.headers.get("etag", ""), data)
        return named if named.has_uid(uid) else None

    async def _by_uid(self, calendar: CalendarInfo, uid: str) -> list[DavItem]:
        try:
            return await self.connection.report(calendar.url, query_uid(uid))
        except DavFailed as error:
            if error.status in (400, 403, 404, 409, 422, 501):  # no search by UID
                return []
            raise

    def _series(self, stored: StoredObject, notify: bool = True, invites: bool = False) -> StoredSeries:
        try:
            calendar = read_calendar(stored.data)
        except ValueError as error:
            raise ToolFailure(
                f"The stored event cannot be read: {error}.", "Correct it in another program."
            ) from None
        return StoredSeries(calendar, self.zone, self._organizer(invites), notify)

    def _organizer(self, needed: bool) -> str:
        if needed and not self.addresses:
            raise ToolFailure(
                f"The account {self.account.name} has no mail address to invite others with.",
                "Leave out `attendees`, or add the account again with an address as its user name.",
            )
        return self.addresses[0] if self.addresses else ""

    def _check_organizer(self, series: StoredSeries, changes: EventChanges) -> None:
        component = series.master or series.calendar.walk("VEVENT")[0]
        now = datetime.now(UTC)
        occurrence = Occurrence(component, now, now, "")
        check_organizer(event_of(EventRef("-", "-"), occurrence, component, self.addresses), changes)

    def _respond(self, series: StoredSeries, ref: EventRef, scope: Scope, changes: EventChanges) -> None:
        if scope == "this" and ref.occurrence:
            events = [series.change_one(ref.occurrence, EventChanges())]
        else:
            events = list(series.calendar.walk("VEVENT"))
        answered = [set_response(event, self.addresses, str(changes.response)) for event in events]
        if not any(answered):
            raise not_invited()

    def _shown(self, series: StoredSeries, ref: EventRef) -> Event:
        """The event or occurrence that an id means; for a whole series its first occurrence."""
        component = (series.override(ref.occurrence) if ref.occurrence else None) or series.master
        if component is None:
            component = series.calendar.walk("VEVENT")[0]
        start, end = series.times(ref.occurrence)
        occurrence = Occurrence(component, start, end, ref.occurrence)
        return event_of(ref, occurrence, series.master, self.addresses)

    async def _put_new(self, calendar: CalendarInfo, uid: str, series: StoredSeries) -> str:
        url = f"{calendar.url.rstrip('/')}/{quote(uid, safe='@')}.ics"
        headers = {"If-None-Match": "*", "Content-Type": "text/calendar; charset=utf-8"}
        await self.connection.request("PUT", url, content=as_data(series.calendar), headers=headers)
        return url

    async def _put(self, stored: StoredObject, series: StoredSeries) -> None:
        if stored.loses_lines:
            raise ToolFailure(
                "The stored event has lines that cannot be read and would be lost.",
                "Change it in the program that made it.",
            )
        headers = {"Content-Type": "text/calendar; charset=utf-8"}
        if stored.etag:
            headers["If-Match"] = stored.etag
        await self.connection.request("PUT", stored.url, content=as_data(series.calendar), headers=headers)

    async def _delete(self, stored: StoredObject, notify: bool) -> None:
        headers = {"If-Match": stored.etag} if stored.etag else {}
        if not notify:
            headers["Schedule-Reply"] = "F"
        await self.connection.request("DELETE", stored.url, headers=headers)

    async def _invitation_remarks(self, calendar: CalendarInfo, invited: bool, notify: bool) -> list[str]:
        """Whether the server notifies the attendees."""
        if not invited:
            return []
        answer = await self.connection.request("OPTIONS", calendar.url)
        sends = "calendar-auto-schedule" in answer.headers.get("dav", "").lower()
        if not sends:
            return ["This server does not send invitations: the attendees were not notified."]
        if notify:
            return ["The server notifies the attendees."]
        return ["The server was asked not to notify the attendees; it may notify those already invited."]
