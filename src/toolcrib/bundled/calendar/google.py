"""Calendars of a Google account. Google expands recurrences and sends invitations itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Any
from urllib.parse import quote

import httpx2

from toolcrib.accounts import Account, AccountStore
from toolcrib.accounts.google import GoogleAccess, failure_of
from toolcrib.bundled.calendar.google_dates import with_rules
from toolcrib.bundled.calendar.google_events import (
    JSON,
    OWN_FIELDS,
    changed_fields,
    event_id,
    new_body,
    read_event,
    read_moment,
    rules_in,
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
    Window,
    like,
    same_length,
    shifted,
    wall,
)
from toolcrib.bundled.calendar.rules import checked_rule, moved_rule, split_rule
from toolcrib.serverkit.context import ToolFailure

PAGE = 2500
MAX_EVENTS = 10_000
MAX_CALENDARS = 250
ATTEMPTS = 2
"""A change is made again on the newer event if someone else changed it in between."""


class _Changed(Exception):
    """Someone else changed the event."""


@asynccontextmanager
async def open_calendars(
    store: AccountStore, account: Account, zone: tzinfo
) -> AsyncIterator[GoogleCalendars]:
    """The calendars of the account; connections are shared between calls."""
    yield GoogleCalendars(GoogleAccess(store, account), zone)


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
            self._known = sorted(found, key=lambda each: not each.primary)
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

    async def events(self, calendar: CalendarInfo, window: Window, query: str = "") -> Listing:
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
        return listing

    async def event(self, ref: EventRef) -> Event:
        raw = await self._get(ref)
        rules = rules_in(await self._get(ref.series)) if ref.occurrence else ()
        return self._read(raw, ref.calendar, rules)

    async def create(self, calendar: CalendarInfo, new: NewEvent, notify: bool) -> tuple[Event, list[str]]:
        params = {"sendUpdates": "all" if notify and new.attendees else "none"}
        raw = await self._json("POST", _events(calendar.id), params=params, json=new_body(new))
        return self._first(raw, calendar.id), _remarks(raw, notify)

    async def update(
        self, ref: EventRef, changes: EventChanges, scope: Scope, notify: bool
    ) -> tuple[Event, list[str]]:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                raw = await self._change(ref, changes, scope, notify)
            except _Changed:
                if attempt == ATTEMPTS:
                    raise _conflict() from None
                continue
            shown = raw if scope != "this" else await self._get(ref)
            rules = rules_in(await self._get(ref.series)) if scope == "this" and ref.occurrence else ()
            event = self._read(shown, ref.calendar, rules) if rules else self._first(shown, ref.calendar)
            return event, _remarks(raw, notify)
        raise AssertionError("unreachable")

    async def _change(self, ref: EventRef, changes: EventChanges, scope: Scope, notify: bool) -> JSON:
        if scope == "this" or not ref.occurrence:
            raw = await self._get(ref)
            if scope == "this" or not raw.get("recurrence"):
                return await self._change_one(ref, raw, changes, notify)
        master = await self._get(ref.series)
        self._check_organizer(master, changes)
        if scope == "following" and ref.occurrence and not self._starts_at(master, ref):
            return await self._change_following(ref, master, changes, notify)
        return await self._patch(ref.series, master, self._all_body(ref, master, changes), notify)

    async def _change_one(self, ref: EventRef, raw: JSON, changes: EventChanges, notify: bool) -> JSON:
        self._check_organizer(raw, changes)
        body = changed_fields(raw, changes)
        if changes.moves:
            start, end = self._times(raw)
            body.update(_moved(changes, start, end))
        if changes.rules is not None:
            start = changes.start if changes.start is not None else self._times(raw)[0]
            body["recurrence"] = [f"RRULE:{checked_rule(rule, start)}" for rule in changes.rules] or None
        return await self._patch(ref, raw, body, notify)

    def _all_body(self, ref: EventRef, master: JSON, changes: EventChanges) -> JSON:
        """The patch of a series; new times are those of one occurrence."""
        body = changed_fields(master, changes)
        start, end = self._times(master)
        new_start = start
        if changes.moves:
            at = self._clock_of(start, read_key(ref.occurrence)) if ref.occurrence else start
            first = changes.start if changes.start is not None else at
            last = changes.end if changes.end is not None else same_length(first, start, end)
            new_start = like(first, wall(start) + (wall(first) - wall(at)))
            new_end = like(first, wall(new_start) + (wall(last) - wall(first)))
            body.update(start=write_moment(new_start), end=write_moment(new_end))
        if changes.rules is not None:
            rules = [checked_rule(rule, new_start) for rule in changes.rules]
        elif changes.moves:
            rules = [moved_rule(rule, start, new_start) for rule in rules_in(master)]
        else:
            return body
        by = wall(new_start) - wall(start)
        dates = with_rules(master, rules, start, lambda each: like(new_start, wall(each) + by))
        body["recurrence"] = dates if rules or changes.rules is None else None
        return body

    async def _change_following(
        self, ref: EventRef, master: JSON, changes: EventChanges, notify: bool
    ) -> JSON:
        """A new series from this occurrence on; then the old one ends before it."""
        start, end = self._times(master)
        at = self._clock_of(start, read_key(ref.occurrence))
        later = {key: value for key, value in master.items() if key not in OWN_FIELDS}
        later["start"] = write_moment(at)
        later["end"] = write_moment(shifted(at, wall(end) - wall(start)))
        rules = [split_rule(rule, start, at)[1] for rule in rules_in(master)]
        later["recurrence"] = with_rules(
            master, rules, start, lambda each: each if wall(each) >= wall(at) else None
        )
        later.update(self._all_body(ref.series, later, changes))
        params = {"sendUpdates": _send(notify)}
        body = {key: _without_nulls(value) for key, value in later.items() if value is not None}
        made = await self._json("POST", _events(ref.calendar), params=params, json=body)
        try:
            await self._end_before(ref, master, notify)
        except BaseException:
            await self._request("DELETE", _event(EventRef(ref.calendar, made["id"])), params=params)
            raise
        return made

    async def _end_before(self, ref: EventRef, master: JSON, notify: bool) -> JSON:
        start = self._times(master)[0]
        at = self._clock_of(start, read_key(ref.occurrence))
        rules = [split_rule(rule, start, at)[0] for rule in rules_in(master)]
        kept = with_rules(master, rules, start, lambda each: each if wall(each) < wall(at) else None)
        return await self._patch(ref.series, master, {"recurrence": kept}, notify)

    async def delete(self, ref: EventRef, scope: Scope, notify: bool) -> list[str]:
        raw = await self._get(ref)
        if scope == "following" and ref.occurrence:
            master = await self._get(ref.series)
            if not self._starts_at(master, ref):
                return _remarks(await self._end_before(ref, master, notify), notify)
        target = ref if scope == "this" else ref.series
        await self._request("DELETE", _event(target), params={"sendUpdates": _send(notify)})
        return _remarks(raw, notify)

    async def busy(self, addresses: Sequence[str], window: Window) -> dict[str, list[Busy] | str]:
        body = {
            "timeMin": window.start.isoformat(),
            "timeMax": window.end.isoformat(),
            "items": [{"id": address} for address in addresses],
        }
        found = (await self._json("POST", "/freeBusy", json=body)).get("calendars", {})
        return {address: _busy(found.get(address) or {}) for address in addresses}

    def _first(self, raw: JSON, calendar: str) -> Event:
        """An event, or the first occurrence of a series."""
        event = self._read(raw, calendar)
        if not raw.get("recurrence"):
            return event
        return replace(event, id=str(EventRef(calendar, str(raw["id"]), occurrence_key(event.start))))

    def _read(self, raw: JSON, calendar: str, rules: Sequence[str] = ()) -> Event:
        try:
            return read_event(raw, calendar, self._zone_name(calendar), rules)
        except (ValueError, KeyError, TypeError) as error:
            raise ToolFailure(
                "Google sent an event that cannot be read.", "Open it in Google Calendar."
            ) from error

    def _zone_name(self, calendar: str) -> str:
        return next((each.time_zone for each in self._known if each.id == calendar), "")

    def _times(self, raw: JSON) -> tuple[Moment, Moment]:
        return read_moment(raw.get("start")), read_moment(raw.get("end"))

    def _starts_at(self, master: JSON, ref: EventRef) -> bool:
        return occurrence_key(self._times(master)[0]) == ref.occurrence

    def _clock_of(self, start: Moment, moment: Moment) -> Moment:
        """An original start in the zone of its series."""
        if isinstance(start, datetime) and isinstance(moment, datetime) and moment.tzinfo:
            return moment.astimezone(start.tzinfo)
        return moment

    def _check_organizer(self, raw: JSON, changes: EventChanges) -> None:
        event = read_event(raw, "-", "")
        if not event.mine and not changes.only_own:
            raise ToolFailure(
                f"Only its organizer ({event.organizer}) can change this event.",
                "Answer it with `response`, or ask the organizer.",
            )
        if changes.response is not None and not any(each.get("self") for each in raw.get("attendees", [])):
            raise ToolFailure("The user is not invited to this event.", "Leave out `response`.")

    async def _get(self, ref: EventRef) -> JSON:
        raw = await self._json("GET", _event(ref))
        if raw.get("status") == "cancelled":
            raise _gone()
        return raw

    async def _patch(self, ref: EventRef, raw: JSON, body: JSON, notify: bool) -> JSON:
        headers = {"If-Match": str(raw["etag"])} if raw.get("etag") else {}
        params = {"sendUpdates": _send(notify)}
        return await self._json("PATCH", _event(ref), params=params, json=body, headers=headers)

    async def _json(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> JSON:
        response = await self._request(method, path, params=params, json=json, headers=headers)
        try:
            found = response.json()
        except ValueError:
            raise ToolFailure("Google's answer cannot be read.", "Try again later.") from None
        return found if isinstance(found, dict) else {}

    async def _request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        return self._checked(
            await self._access.request(method, self._url(path), params=params, json=json, headers=headers)
        )

    def _url(self, path: str) -> str:
        return f"{self._access.base('calendar')}{path}"

    def _checked(self, response: httpx2.Response) -> httpx2.Response:
        if response.status_code == 412:
            raise _Changed
        if response.status_code in (404, 410):
            raise _gone()
        if response.status_code >= 400:
            raise failure_of(response, self._access.account)
        return response


def _events(calendar: str) -> str:
    return f"/calendars/{quote(calendar, safe='')}/events"


def _event(ref: EventRef) -> str:
    return f"{_events(ref.calendar)}/{quote(event_id(ref), safe='')}"


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


def _collect(raw: JSON, calendar: CalendarInfo, window: Window, listing: Listing) -> None:
    try:
        event = read_event(raw, calendar.id, calendar.time_zone)
    except (ValueError, KeyError, TypeError, AttributeError):
        listing.remarks.append(f"An event of {calendar.name} cannot be read.")
        return
    if window.overlaps(event.start, event.end):
        listing.events.append(event)


def _moved(changes: EventChanges, start: Moment, end: Moment) -> JSON:
    first = changes.start if changes.start is not None else start
    last = changes.end if changes.end is not None else same_length(first, start, end)
    return {"start": write_moment(first), "end": write_moment(last)}


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: each for key, each in value.items() if each is not None}
    return value


def _busy(raw: JSON) -> list[Busy] | str:
    if raw.get("errors"):
        return "Google does not show the calendar of this address."
    return [
        Busy(datetime.fromisoformat(each["start"]), datetime.fromisoformat(each["end"]))
        for each in raw.get("busy", [])
    ]


def _remarks(raw: JSON, notify: bool) -> list[str]:
    if not raw.get("attendees"):
        return []
    return ["Google notifies the attendees."] if notify else ["The attendees were not notified."]


def _gone() -> ToolFailure:
    return ToolFailure("This event is not in the calendar.", "It may have been deleted: look again.")


def _conflict() -> ToolFailure:
    return ToolFailure("Someone else changed this event.", "Read it again, then repeat the change.")
