"""The tools that change calendars: create, quick add, update and delete; each with a preview (old and new
values, "this and all following occurrences"). Limits: length of title, description and preview."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Any, Literal

from toolcrib.bundled.calendar.identifiers import EventRef, read_id
from toolcrib.bundled.calendar.inputs import (
    checked_end,
    checked_reminders,
    event_times,
    moved_start,
    read_duration,
    read_people,
)
from toolcrib.bundled.calendar.model import (
    Attendee,
    Event,
    EventChanges,
    Moment,
    NewEvent,
    Scope,
    shifted,
    wall,
)
from toolcrib.bundled.calendar.quick_add import understand
from toolcrib.bundled.calendar.results import (
    ChangedEvent,
    DeletedEvent,
    event_result,
    event_text,
    last_moment,
    span_text,
    time_text,
)
from toolcrib.bundled.calendar.rules import checked_rule, read_repetition, rule_words
from toolcrib.bundled.calendar.sessions import CalendarAccounts, CalendarSession
from toolcrib.bundled.calendar.zones import zone_named
from toolcrib.errors import ToolcribError
from toolcrib.serverkit.approved import ShownPreviews, shortened
from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.results import with_text
from toolcrib.serverkit.server import ToolServer

MAX_TEXT = 4000
_SCOPES = {
    "this": "this occurrence",
    "following": "this and all following occurrences",
    "all": "all occurrences",
}

MAX_TITLE = 1000
MAX_DESCRIPTION = 20_000
_CHANGES: Any = {"open_world": True, "outside": True, "private": True, "reach": "anybody"}
InvitationAnswer = Literal["accepted", "declined", "tentative"]


def event_preview(
    action: str, account: str, calendar: str, event: Event, zone: tzinfo, notify: bool, text: str = ""
) -> dict[str, Any]:
    """The shape that every approval question for an event has."""
    return {
        "kind": "event",
        "action": action,
        "account": account,
        "calendar": calendar,
        "title": event.title,
        "start": time_text(event.start, zone),
        "end": time_text(last_moment(event), zone),
        "all_day": event.all_day,
        "where": event.location,
        "attendees": [str(attendee) for attendee in event.attendees],
        "recurrence": rule_words(event.rules),
        "text": shortened(text or event.description, MAX_TEXT),
        "notify": notify and bool(event.attendees),
    }


def as_event(new: NewEvent, calendar: str) -> Event:
    """A new event as it will look."""
    return Event(id="", calendar=calendar, **{**vars(new), "reminders": new.reminders or ()})


def changed_event(event: Event, changes: EventChanges) -> Event:
    """An event with its changes."""
    start = event.start if changes.start is None else changes.start
    changed: dict[str, Any] = {"start": start, "end": _end(event, start)}
    for name in ("end", "title", "location", "description", "attendees", "rules", "reminders"):
        if (value := getattr(changes, name)) is not None:
            changed[name] = value
    return replace(event, **changed)


def _end(event: Event, start: Moment) -> Moment:
    if isinstance(start, datetime) != isinstance(event.start, datetime):
        return event.end
    return shifted(start, wall(event.end) - wall(event.start))


def change_text(before: Event, after: Event, scope: Scope, changes: EventChanges, zone: tzinfo) -> str:
    """What changes, one line each, the old value first."""
    lines = [f"Applies to {_SCOPES[scope]}."] if before.recurring else []
    pairs = [
        ("Title", before.title, after.title),
        ("When", span_text(before, zone), span_text(after, zone)),
        ("Where", before.location, after.location),
        ("Repeats", rule_words(before.rules) or "never", rule_words(after.rules) or "never"),
        ("Description", before.description, after.description),
        ("Attendees", _people(before.attendees), _people(after.attendees)),
        ("Reminders", _minutes(before.reminders), _minutes(after.reminders)),
    ]
    lines += [f"{name}: {old or '(empty)'} → {new or '(empty)'}" for name, old, new in pairs if old != new]
    if changes.response:
        lines.append(f"Answer to the invitation: {changes.response}")
    return "\n".join(lines)


def delete_text(event: Event, scope: Scope) -> str:
    """What is deleted."""
    lines = [f"Deletes {_SCOPES[scope]}."] if event.recurring else []
    if event.attendees and not event.mine:
        lines.append(f"The invitation of {event.organizer} is declined.")
    return "\n".join(lines)


def _people(attendees: Sequence[Attendee]) -> str:
    return ", ".join(map(str, attendees))


def _minutes(reminders: Sequence[int]) -> str:
    return ", ".join(f"{minutes} min" for minutes in reminders)


class EventChangeTools:
    """The tools over the accounts of a home."""

    def __init__(self, accounts: CalendarAccounts) -> None:
        self._accounts = accounts
        self._shown = ShownPreviews()

    def _opened(
        self, account: str | None, context: ToolContext
    ) -> AbstractAsyncContextManager[CalendarSession]:
        """Words such as "in two hours" mean the same as when the user was asked."""
        return self._accounts.open(account, context, self._shown.asked_at())

    def offer(self, server: ToolServer) -> None:
        server.tool(title="Create an event", destructive=False, preview=self.preview_create, **_CHANGES)(
            self.create_event
        )
        server.tool(title="Add an event in words", destructive=False, preview=self.preview_quick, **_CHANGES)(
            self.quick_add_event
        )
        server.tool(title="Update an event", destructive=True, preview=self.preview_update, **_CHANGES)(
            self.update_event
        )
        server.tool(title="Delete an event", destructive=True, preview=self.preview_delete, **_CHANGES)(
            self.delete_event
        )

    async def create_event(
        self,
        context: ToolContext,
        title: str,
        start: str,
        end: str | None = None,
        duration: int | str | None = None,
        all_day: bool | None = None,
        time_zone: str | None = None,
        location: str = "",
        description: str = "",
        attendees: list[str] | None = None,
        recurrence: str | None = None,
        reminders: list[int] | None = None,
        calendar: str | None = None,
        notify: bool = True,
        account: str | None = None,
    ) -> ChangedEvent:
        async with self._opened(account, context) as session:
            session.check_writable()
            times = start, end, duration, all_day, time_zone
            new = _new_event(session, title, *times, location, description, attendees, recurrence, reminders)
            chosen = await session.calendar(calendar, for_change=True)
            self._shown.check(_creation(session, chosen.name, new, notify), new)
            event, remarks = await session.calendars.create(chosen, new, notify)
            return _changed(session, event, f"Created in {chosen.name}.", remarks)

    async def preview_create(
        self, calendar: str | None = None, notify: bool = True, account: str | None = None, **event: Any
    ) -> dict[str, Any] | None:
        try:
            async with self._accounts.open(account) as session:
                new = _new_event(session, **event)
                chosen = await session.calendar(calendar)
        except ToolcribError:
            return None  # the call itself says what is wrong
        preview = _creation(session, chosen.name, new, notify)
        self._shown.keep(preview, new, now=session.now)
        return preview

    async def quick_add_event(
        self, context: ToolContext, text: str, calendar: str | None = None, account: str | None = None
    ) -> ChangedEvent:
        async with self._opened(account, context) as session:
            session.check_writable()
            new = understand(text, session.now)
            chosen = await session.calendar(calendar, for_change=True)
            self._shown.check(_creation(session, chosen.name, new, True, text), new)
            made, remarks = await session.calendars.create(chosen, new, True)
            understood = f"{made.title}: {span_text(made, session.zone)}"
            return _changed(session, made, f"Created in {chosen.name}. Understood as:", remarks, understood)

    async def preview_quick(
        self, text: str, calendar: str | None = None, account: str | None = None
    ) -> dict[str, Any] | None:
        try:
            async with self._accounts.open(account) as session:
                new = understand(text, session.now)
                chosen = await session.calendar(calendar)
        except ToolcribError:
            self._shown.keep({})  # nothing is created that was not shown
            return None
        preview = _creation(session, chosen.name, new, True, text)
        self._shown.keep(preview, new, now=session.now)
        return preview

    async def update_event(
        self,
        context: ToolContext,
        id: str,  # noqa: A002
        title: str | None = None,
        start: str | None = None,
        end: str | None = None,
        duration: int | str | None = None,
        all_day: bool | None = None,
        time_zone: str | None = None,
        location: str | None = None,
        description: str | None = None,
        attendees: list[str] | None = None,
        recurrence: str | None = None,
        reminders: list[int] | None = None,
        response: InvitationAnswer | None = None,
        scope: Scope = "this",
        notify: bool = True,
        account: str | None = None,
    ) -> ChangedEvent:
        ref = read_id(id)
        async with self._opened(account, context) as session:
            session.check_writable()
            ref, before = await _found(session, ref, scope, start is not None or end is not None)
            times = start, end, duration, all_day, time_zone
            texts = location, description, attendees, recurrence, reminders
            changes = _changes(session, before, scope, title, *times, *texts, response)
            if changes == EventChanges():
                raise ToolFailure("Nothing to change is given.", "Give at least one field.")
            asked = self._shown.asked_at() is not None
            lost = await _losses(session, ref, before, changes, scope) if asked else []
            preview = _update(session, before, changes, scope, notify, lost)
            self._shown.check(preview, before.description, changes)
            event, remarks = await session.calendars.update(ref, changes, scope, notify)
            return _changed(session, event, "Changed.", remarks)

    async def preview_update(
        self,
        id: str,  # noqa: A002
        scope: Scope = "this",
        notify: bool = True,
        account: str | None = None,
        **changed: Any,
    ) -> dict[str, Any] | None:
        try:
            async with self._accounts.open(account) as session:
                moves = any(changed.get(name) is not None for name in ("start", "end"))
                ref, before = await _found(session, read_id(id), scope, moves)
                changes = _changes(session, before, scope, **changed)
                lost = await _losses(session, ref, before, changes, scope)
        except ToolcribError:
            return None
        preview = _update(session, before, changes, scope, notify, lost)
        self._shown.keep(preview, before.description, changes, now=session.now)
        return preview

    async def delete_event(
        self,
        context: ToolContext,
        id: str,  # noqa: A002
        scope: Scope = "this",
        notify: bool = True,
        account: str | None = None,
    ) -> DeletedEvent:
        ref = read_id(id)
        async with self._opened(account, context) as session:
            session.check_writable()
            ref, before = await _found(session, ref, scope)
            self._shown.check(_deletion(session, before, scope, notify))
            remarks = await session.calendars.delete(ref, scope, notify)
        result = DeletedEvent(account=session.account.name, deleted=id, title=before.title, remarks=remarks)
        when = span_text(before, session.zone)
        return with_text("\n".join([f"Deleted: {before.title or '(no title)'}, {when}", *remarks]), result)

    async def preview_delete(
        self,
        id: str,  # noqa: A002
        scope: Scope = "this",
        notify: bool = True,
        account: str | None = None,
    ) -> dict[str, Any] | None:
        try:
            async with self._accounts.open(account) as session:
                _, before = await _found(session, read_id(id), scope)
        except ToolcribError:
            return None
        preview = _deletion(session, before, scope, notify)
        self._shown.keep(preview)
        return preview


def _creation(
    session: CalendarSession, calendar: str, new: NewEvent, notify: bool, text: str = ""
) -> dict[str, Any]:
    event = as_event(new, calendar)
    return event_preview("create", session.account.name, calendar, event, session.zone, notify, text)


async def _found(
    session: CalendarSession, ref: EventRef, scope: Scope, moves: bool = False
) -> tuple[EventRef, Event]:
    """The event of an id. If its occurrence is gone, the series is enough for what concerns all of it."""
    try:
        return ref, await session.calendars.event(ref)
    except ToolFailure:
        if scope != "all" or moves or not ref.is_occurrence:
            raise
    return ref.series, await session.calendars.event(ref.series)


async def _losses(
    session: CalendarSession, ref: EventRef, before: Event, changes: EventChanges, scope: Scope
) -> list[str]:
    if scope == "this" or not before.recurring:
        return []
    return await session.calendars.losses(ref, changes, scope)


def _update(
    session: CalendarSession,
    before: Event,
    changes: EventChanges,
    scope: Scope,
    notify: bool,
    lost: list[str],
) -> dict[str, Any]:
    after = changed_event(before, changes)
    text = "\n".join([change_text(before, after, scope, changes, session.zone), *lost])
    return event_preview("update", session.account.name, before.calendar, after, session.zone, notify, text)


def _deletion(session: CalendarSession, before: Event, scope: Scope, notify: bool) -> dict[str, Any]:
    text = delete_text(before, scope)
    return event_preview("delete", session.account.name, before.calendar, before, session.zone, notify, text)


def _new_event(
    session: CalendarSession,
    title: str,
    start: str,
    end: str | None = None,
    duration: int | str | None = None,
    all_day: bool | None = None,
    time_zone: str | None = None,
    location: str = "",
    description: str = "",
    attendees: list[str] | None = None,
    recurrence: str | None = None,
    reminders: list[int] | None = None,
) -> NewEvent:
    now = session.now.astimezone(zone_named(time_zone)) if time_zone else session.now
    first, last = event_times(start, end, duration, all_day, now)
    if isinstance(first, datetime) and first.tzinfo is not None and time_zone:
        first = first.astimezone(now.tzinfo)
    checked_title, rules = _checked_title(title), _rules(recurrence, first, now) or ()
    if len(description) > MAX_DESCRIPTION or len(location) > MAX_TITLE:
        raise ToolFailure("The description or location is too long.", "Shorten it.")
    return NewEvent(
        title=checked_title,
        start=_in_named_zone(first, now),
        end=_in_named_zone(last, now),
        location=location,
        description=description,
        attendees=read_people(attendees) or (),
        rules=rules,
        reminders=checked_reminders(reminders),
    )


def _in_named_zone(moment: Moment, now: datetime) -> Moment:
    """An offset alone has no daylight saving, so the user's zone is stored."""
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        return moment.astimezone(now.tzinfo)
    return moment


def _rules(recurrence: str | None, first: Moment, now: datetime) -> tuple[str, ...] | None:
    if recurrence is None:
        return None
    if recurrence.strip().lower() in ("", "none", "never"):
        return ()
    return (checked_rule(read_repetition(recurrence, now.date(), wall(first).date()), first),)


def _checked_title(title: str) -> str:
    if not title.strip() or len(title) > MAX_TITLE:
        raise ToolFailure("The title is empty or too long.", f"Use 1 to {MAX_TITLE} characters.")
    return title.strip()


def _changes(
    session: CalendarSession,
    before: Event,
    scope: Scope,
    title: str | None = None,
    start: str | None = None,
    end: str | None = None,
    duration: int | str | None = None,
    all_day: bool | None = None,
    time_zone: str | None = None,
    location: str | None = None,
    description: str | None = None,
    attendees: list[str] | None = None,
    recurrence: str | None = None,
    reminders: list[int] | None = None,
    response: InvitationAnswer | None = None,
) -> EventChanges:
    if recurrence is not None and before.recurring and scope == "this":
        raise ToolFailure("One occurrence cannot have a recurrence.", "Use scope `all` or `following`.")
    first, last = _new_times(session, before, start, end, duration, all_day, time_zone)
    begins = first if first is not None else before.start
    return EventChanges(
        title=None if title is None else _checked_title(title),
        start=first,
        end=last,
        rules=_rules(recurrence, begins, session.now),
        location=location,
        description=description,
        attendees=read_people(attendees),
        reminders=checked_reminders(reminders),
        response=response,
    )


def _new_times(
    session: CalendarSession,
    before: Event,
    start: str | None,
    end: str | None,
    duration: int | str | None,
    all_day: bool | None,
    time_zone: str | None,
) -> tuple[Moment | None, Moment | None]:
    if end is not None and duration is not None:
        raise ToolFailure("Both `end` and `duration` are given.", "Give one of them.")
    own = before.start.tzinfo if isinstance(before.start, datetime) else None
    zone = zone_named(time_zone) if time_zone else own or session.zone
    first: Moment | None = None
    if start is not None:
        first = moved_start(start, session.now, before.start, zone, all_day)
    elif all_day is True and not before.all_day:
        first = wall(before.start).date()
    elif time_zone and isinstance(before.start, datetime) and before.start.tzinfo:
        first = before.start.astimezone(zone)
    begins = first if first is not None else before.start
    if end is None and duration is None:
        return first, None
    given = moved_start(end, session.now, _expected_end(before, begins), zone, None) if end else None
    return first, checked_end(begins, given, read_duration(duration))


def _expected_end(before: Event, begins: Moment) -> Moment:
    """The end that a time alone changes: as many days after the new start as before."""
    if before.all_day:
        return begins
    return shifted(before.end, wall(begins).date() - wall(before.start).date())


def _changed(
    session: CalendarSession, event: Event, done: str, remarks: list[str], understood: str = ""
) -> ChangedEvent:
    result = ChangedEvent(
        account=session.account.name,
        event=event_result(event, full=True),
        understood=understood,
        remarks=remarks,
    )
    return with_text("\n".join([done, event_text(event, session.zone), *remarks]), result)
