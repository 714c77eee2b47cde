"""Calendars of a Google account over its API. Google expands recurrences and sends invitations itself.
Decides the most events, retries after a conflict, who is notified, and why the times of others are not
shown."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from urllib.parse import quote

import httpx2

from toolcrib.accounts import Account, AccountStore
from toolcrib.accounts.google import GoogleAccess, failure_of
from toolcrib.bundled.calendar.google_events import (
    JSON,
    Exceptions,
    SeriesPlan,
    before,
    changed_fields,
    exceptions_of,
    new_body,
    original,
    plan_all,
    plan_following,
    read_event,
    reference,
    rules_before,
    rules_in,
    times,
    write_moment,
)
from toolcrib.bundled.calendar.identifiers import EventRef, occurrence_key, read_key
from toolcrib.bundled.calendar.model import (
    Busy,
    CalendarInfo,
    Event,
    EventChanges,
    Listing,
    Moment,
    NewEvent,
    Scope,
    TimeWindow,
    check_organizer,
    conflict,
    not_found,
    not_invited,
    on_clock,
)
from toolcrib.bundled.calendar.results import day_text
from toolcrib.bundled.calendar.rules import checked_rule
from toolcrib.bundled.calendar.sessions import OpenCalendars
from toolcrib.errors import ToolcribError
from toolcrib.serverkit.context import ToolFailure

PAGE = 2500
MAX_EVENTS = 10_000
BUSY_AT_ONCE = 50
"""Calendars that Google looks up in one request."""
YEARS = 10
"""From now; later exceptions of a series are not looked for."""
ATTEMPTS = 2
"""A change is made again on the newer event if someone else changed it in between."""


class _Changed(Exception):
    """Someone else changed the event."""


def provider(store: AccountStore) -> OpenCalendars:
    """See `OpenCalendars`. Connections are shared between calls by `GoogleAccess`."""

    @asynccontextmanager
    async def opened(account: Account, zone: tzinfo) -> AsyncIterator[GoogleCalendars]:
        yield GoogleCalendars(GoogleAccess(store, account), zone)

    return opened


class GoogleCalendars:
    """The calendars of one account."""

    def __init__(self, access: GoogleAccess, zone: tzinfo) -> None:
        self._access = access
        self._zone = zone
        self._known: list[CalendarInfo] = []

    async def calendars(self) -> list[CalendarInfo]:
        if not self._known:
            found = [
                _calendar(raw, self._access.account) async for raw in self._pages("/users/me/calendarList")
            ]
            self._known = sorted(found, key=lambda calendar: not calendar.primary)
        return self._known

    async def _pages(self, path: str, **params: Any) -> AsyncIterator[JSON]:
        token, count = "", 0
        while True:
            page = await self._json("GET", path, params={**params, **({"pageToken": token} if token else {})})
            for item in page.get("items", []):
                count += 1
                yield item
            token = str(page.get("nextPageToken", ""))
            if not token or count >= MAX_EVENTS:
                return

    async def events(self, calendar: CalendarInfo, window: TimeWindow, query: str = "") -> Listing:
        params: dict[str, Any] = {
            "timeMin": window.start.isoformat(),
            "timeMax": window.end.isoformat(),
            "singleEvents": "true",
            "orderBy": "startTime",
            "maxResults": PAGE,
        }
        if query:
            params["q"] = query
        listing = Listing()
        async for raw in self._pages(_events(calendar.id), **params):
            if raw.get("status") != "cancelled":
                _collect(raw, calendar, window, listing)
        if len(listing.events) >= MAX_EVENTS:
            listing.remarks.append(f"{calendar.name} has more events than can be read: ask for less time.")
        return listing

    async def event(self, ref: EventRef) -> Event:
        raw = await self._get(ref)
        return self._read(raw, ref.calendar, await self._series_rules(raw, ref.calendar))

    async def _series_rules(self, raw: JSON, calendar: str) -> tuple[str, ...]:
        """The rules of the series that an occurrence belongs to."""
        series = raw.get("recurringEventId")
        return rules_in(await self._get(EventRef(calendar, str(series)))) if series else ()

    async def create(self, calendar: CalendarInfo, new: NewEvent, notify: bool) -> tuple[Event, list[str]]:
        params = {"sendUpdates": "all" if notify and new.attendees else "none"}
        raw = await self._json("POST", _events(calendar.id), params=params, json=new_body(new))
        return await self._first(raw, calendar.id), _remarks(raw, notify)

    async def update(
        self, ref: EventRef, changes: EventChanges, scope: Scope, notify: bool
    ) -> tuple[Event, list[str]]:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                raw, remarks = await self._change(ref, changes, scope, notify)
            except _Changed:
                if attempt == ATTEMPTS:
                    raise conflict() from None
                continue
            if scope == "this" and ref.is_occurrence:
                event = await self.event(ref)
            else:
                event = await self._first(raw, ref.calendar)
            return event, [*_remarks(raw, notify), *remarks]
        raise AssertionError("unreachable")

    async def _change(
        self, ref: EventRef, changes: EventChanges, scope: Scope, notify: bool
    ) -> tuple[JSON, list[str]]:
        raw = await self._get(ref)
        if scope == "this" or not (raw.get("recurringEventId") or raw.get("recurrence")):
            return await self._change_one(raw, ref.calendar, changes, notify), []
        master, plan, at = await self._plan(raw, ref.calendar, changes, scope)
        self._check_organizer(master, changes)
        series = EventRef(ref.calendar, str(master["id"]))
        if at is not None:
            return await self._change_following(series, master, plan, at, notify)
        patched = await self._patch(series, master, plan.body, notify)
        return patched, [*plan.lost, *await self._remake(series, plan, notify)]

    async def losses(self, ref: EventRef, changes: EventChanges, scope: Scope) -> list[str]:
        raw = await self._get(ref)
        if scope == "this" or not (raw.get("recurringEventId") or raw.get("recurrence")):
            return []
        return list((await self._plan(raw, ref.calendar, changes, scope))[1].lost)

    async def _plan(
        self, raw: JSON, calendar: str, changes: EventChanges, scope: Scope
    ) -> tuple[JSON, SeriesPlan, Moment | None]:
        """The series, what is to be done, and from which occurrence on if not from the first."""
        target = raw if raw.get("recurringEventId") else None
        master = await self._get(EventRef(calendar, str(raw["recurringEventId"]))) if target else raw
        exceptions = await self._exceptions(calendar, master)
        start = times(master)[0]
        at = on_clock(start, original(target)) if target else start
        if scope == "following" and target and before(start, at):
            return master, plan_following(master, at, changes, exceptions, target), at
        return master, plan_all(master, changes, exceptions, target), None

    async def _exceptions(self, calendar: str, master: JSON) -> Exceptions:
        path = f"{_event(EventRef(calendar, str(master['id'])))}/instances"
        last = (datetime.now(UTC) + timedelta(days=366 * YEARS)).replace(microsecond=0).isoformat()
        params = {"showDeleted": "true", "maxResults": PAGE, "timeMax": last}
        return exceptions_of(master, [raw async for raw in self._pages(path, **params)])

    async def _change_one(self, raw: JSON, calendar: str, changes: EventChanges, notify: bool) -> JSON:
        self._check_organizer(raw, changes)
        body = changed_fields(raw, changes)
        if changes.moves:
            first, last = changes.times(*times(raw))
            body |= {"start": write_moment(first), "end": write_moment(last)}
        if changes.rules is not None:
            start = changes.start if changes.start is not None else times(raw)[0]
            body["recurrence"] = [f"RRULE:{checked_rule(rule, start)}" for rule in changes.rules] or None
        return await self._patch(reference(raw, calendar), raw, body, notify)

    async def _change_following(
        self, series: EventRef, master: JSON, plan: SeriesPlan, at: Moment, notify: bool
    ) -> tuple[JSON, list[str]]:
        """A new series from this occurrence on; then the old one ends before it."""
        params = {"sendUpdates": _send(notify), "conferenceDataVersion": 1, "supportsAttachments": "true"}
        made = await self._json("POST", _events(series.calendar), params=params, json=plan.body)
        later = EventRef(series.calendar, str(made["id"]))
        try:
            await self._end_before(series, master, at, notify)
        except BaseException:
            await self._request("DELETE", _event(later), params={"sendUpdates": _send(notify)})
            raise
        return made, [*plan.lost, *await self._remake(later, plan, notify)]

    async def _remake(self, series: EventRef, plan: SeriesPlan, notify: bool) -> list[str]:
        """Change the occurrences of a series that had been changed before; says which could not be."""
        remarks: list[str] = []
        for kept in plan.kept:
            try:
                raw = await self._instance(series, kept.original)
                await self._patch(reference(raw, series.calendar), {}, kept.body, notify)
            except ToolcribError as error:
                remarks.append(
                    f"The changed occurrence of {day_text(kept.original)} was not kept: {error.message}"
                )
                continue
            if raw["id"] != kept.id:
                await self._remove(series.calendar, kept.id, notify=False)
        for name in plan.removed:
            await self._remove(series.calendar, name, notify)
        return remarks

    async def _remove(self, calendar: str, name: str, notify: bool) -> None:
        """Delete an occurrence that may be gone already."""
        url = self._url(_event(EventRef(calendar, name)))
        response = await self._access.request("DELETE", url, params={"sendUpdates": _send(notify)})
        if response.status_code not in (404, 410):
            self._checked(response)

    async def _instance(self, series: EventRef, at: Moment) -> JSON:
        """The occurrence of a series with this original start; raises `ToolFailure`."""
        params = {"originalStart": at.isoformat(), "maxResults": 1}
        async for raw in self._pages(f"{_event(series)}/instances", **params):
            if raw.get("status") != "cancelled" and occurrence_key(original(raw)) == occurrence_key(at):
                return raw
        raise not_found()

    async def _end_before(self, series: EventRef, master: JSON, at: Moment, notify: bool) -> JSON:
        return await self._patch(series, master, rules_before(master, at), notify)

    async def delete(self, ref: EventRef, scope: Scope, notify: bool) -> list[str]:
        raw = await self._get(ref)
        target = reference(raw, ref.calendar)
        if scope == "following" and target.is_occurrence:
            master = await self._get(target.series)
            at = on_clock(times(master)[0], original(raw))
            if before(times(master)[0], at):
                exceptions = await self._exceptions(ref.calendar, master)
                ended = await self._end_before(target.series, master, at, notify)
                for occurrence in exceptions.since(at).changed:
                    await self._remove(ref.calendar, str(occurrence["id"]), notify)
                return _remarks(ended, notify)
        chosen = target if scope == "this" else target.series
        await self._request("DELETE", _event(chosen), params={"sendUpdates": _send(notify)})
        return _remarks(raw, notify)

    async def busy(self, addresses: Sequence[str], window: TimeWindow) -> dict[str, list[Busy] | str]:
        found: dict[str, list[Busy] | str] = {}
        for at in range(0, len(addresses), BUSY_AT_ONCE):
            part = addresses[at : at + BUSY_AT_ONCE]
            body = {
                "timeMin": window.start.isoformat(),
                "timeMax": window.end.isoformat(),
                "items": [{"id": address} for address in part],
                "calendarExpansionMax": BUSY_AT_ONCE,
                "groupExpansionMax": 100,
            }
            answer = await self._json("POST", "/freeBusy", json=body)
            found |= {address: _busy_of(address, answer) for address in part}
        return found

    async def _first(self, raw: JSON, calendar: str) -> Event:
        """An event, or the first occurrence of a series."""
        if not raw.get("recurrence"):
            return self._read(raw, calendar, await self._series_rules(raw, calendar))
        path = f"{_event(EventRef(calendar, str(raw['id'])))}/instances"
        async for first in self._pages(path, maxResults=1):
            return self._read(first, calendar, rules_in(raw))
        return self._read(raw, calendar)

    def _read(self, raw: JSON, calendar: str, rules: Sequence[str] = ()) -> Event:
        try:
            return read_event(raw, calendar, self._zone_name(calendar), rules)
        except (ValueError, KeyError, TypeError) as error:
            raise ToolFailure(
                "Google sent an event that cannot be read.", "Open it in Google Calendar."
            ) from error

    def _zone_name(self, calendar: str) -> str:
        return next((known.time_zone for known in self._known if known.id == calendar), "")

    def _check_organizer(self, raw: JSON, changes: EventChanges) -> None:
        check_organizer(read_event(raw, "-", ""), changes)
        if changes.response is not None and not any(
            attendee.get("self") for attendee in raw.get("attendees", [])
        ):
            raise not_invited()

    async def _get(self, ref: EventRef) -> JSON:
        if ref.occurrence:  # an identifier without Google's own id
            return await self._instance(ref.series, read_key(ref.occurrence))
        raw = await self._json("GET", _event(ref))
        if raw.get("status") == "cancelled":
            raise not_found()
        return raw

    async def _patch(self, ref: EventRef, raw: JSON, body: JSON, notify: bool) -> JSON:
        headers = {"If-Match": str(raw["etag"])} if raw.get("etag") else {}
        params = {"sendUpdates": _send(notify)}
        return await self._json("PATCH", _event(ref), params=params, json=body, headers=headers)

    async def _json(self, method: str, path: str, **options: Any) -> JSON:
        response = await self._request(method, path, **options)
        try:
            found = response.json()
        except ValueError:
            raise ToolFailure("Google's answer cannot be read.", "Try again later.") from None
        return found if isinstance(found, dict) else {}

    async def _request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        return self._checked(await self._access.request(method, self._url(path), **options))

    def _url(self, path: str) -> str:
        return f"{self._access.base('calendar')}{path}"

    def _checked(self, response: httpx2.Response) -> httpx2.Response:
        if response.status_code == 412:
            raise _Changed
        if response.status_code in (404, 410):
            raise not_found()
        if response.status_code >= 400:
            raise failure_of(response, self._access.account)
        return response


def _events(calendar: str) -> str:
    return f"/calendars/{quote(calendar, safe='')}/events"


def _event(ref: EventRef) -> str:
    return f"{_events(ref.calendar)}/{quote(ref.own or ref.uid, safe='')}"


def _send(notify: bool) -> str:
    return "all" if notify else "none"


def _calendar(raw: JSON, account: Account) -> CalendarInfo:
    return CalendarInfo(
        id=str(raw["id"]),
        name=str(raw.get("summaryOverride") or raw.get("summary") or raw["id"]),
        writable=raw.get("accessRole") in ("owner", "writer") and not account.read_only,
        primary=bool(raw.get("primary")),
        time_zone=str(raw.get("timeZone", "")),
        description=str(raw.get("description", "")),
    )


def _collect(raw: JSON, calendar: CalendarInfo, window: TimeWindow, listing: Listing) -> None:
    try:
        event = read_event(raw, calendar.id, calendar.time_zone)
    except (ValueError, KeyError, TypeError, AttributeError):
        listing.remarks.append(f"An event of {calendar.name} cannot be read.")
        return
    if window.overlaps(event.start, event.end):
        listing.events.append(event)


def _busy_of(address: str, answer: JSON) -> list[Busy] | str:
    """Of one address, or of all members of a group; why it is not known if any part of it is missing."""
    calendars, groups = (_by_lower(answer.get(name)) for name in ("calendars", "groups"))
    group = groups.get(address.lower())
    if group is None:
        return _busy(calendars.get(address.lower()))
    members = [str(member) for member in group.get("calendars") or ()]
    found = [_busy(calendars.get(member.lower())) for member in members]
    unknown = [who for who, answer in zip(members, found, strict=True) if isinstance(answer, str)]
    if group.get("errors") or not members:
        return "Google does not show the members of this group."
    if unknown:
        return f"Google does not show the calendars of some members: {', '.join(unknown)}."
    return [span for spans in found if not isinstance(spans, str) for span in spans]


def _by_lower(found: Mapping[str, Any] | None) -> dict[str, JSON]:
    """Google may answer with another spelling of an address."""
    return {name.lower(): value for name, value in (found or {}).items()}


def _busy(raw: JSON | None) -> list[Busy] | str:
    if raw is None:
        return "Google gave no answer for this address."
    if raw.get("errors") or "busy" not in raw:
        return "Google does not show the calendar of this address."
    return [
        Busy(datetime.fromisoformat(span["start"]), datetime.fromisoformat(span["end"]))
        for span in raw["busy"]
    ]


def _remarks(raw: JSON, notify: bool) -> list[str]:
    if not raw.get("attendees"):
        return []
    return ["Google notifies the attendees."] if notify else ["The attendees were not notified."]
