"""Converts events between Google Calendar's JSON and ours: times, answers, reminders, attendees, and which
fields a change or a copy has. Also plans how a series changes while its moved and deleted occurrences are
kept.

A series changes without losing its exceptions: Google keeps a deleted occurrence as a cancelled event and a
changed one as an event of its own, both bound to the start that the series gives them. When those starts
change, the deleted ones are excluded (EXDATE) and the changed ones are made again.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timezone
from typing import Any

from toolcrib.bundled.calendar.identifiers import EventRef, occurrence_key, read_key
from toolcrib.bundled.calendar.model import (
    Attendee,
    Event,
    EventChanges,
    Moment,
    NewEvent,
    Response,
    like,
    on_clock,
    shifted,
    wall,
)
from toolcrib.bundled.calendar.results import day_text
from toolcrib.bundled.calendar.rules import checked_rule, dates, moved_rule, split_rule
from toolcrib.bundled.calendar.zones import find_zone, zone_name
from toolcrib.serverkit.context import ToolFailure

Change = Callable[[Moment], Moment | None]
"""The date that replaces one; None removes it."""
_OF_SERIES = ("start", "end", "recurrence", "status")
JSON = dict[str, Any]
_RESPONSES: dict[str, Response] = {
    "accepted": "accepted",
    "declined": "declined",
    "tentative": "tentative",
    "needsAction": "needs-action",
}
OWN_FIELDS = (
    "id",
    "etag",
    "iCalUID",
    "htmlLink",
    "created",
    "updated",
    "sequence",
    "creator",
    "organizer",
    "kind",
    "recurringEventId",
    "originalStartTime",
    "hangoutLink",
    "conferenceData",
)
"""What a copy of an event must not take along."""


def read_moment(given: Mapping[str, Any] | None, fallback: str = "") -> Moment:
    """`{"date": …}` or `{"dateTime": …, "timeZone": …}`; raises `ValueError`."""
    given = given or {}
    if given.get("date"):
        return date.fromisoformat(given["date"])
    moment = datetime.fromisoformat(given["dateTime"])
    zone = find_zone(given.get("timeZone") or fallback) if given.get("timeZone") or fallback else None
    if zone is None:
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.astimezone(zone) if moment.tzinfo else moment.replace(tzinfo=zone)


def write_moment(moment: Moment) -> JSON:
    """The other kind is set to null, so that a patch can change between timed and all-day."""
    if not isinstance(moment, datetime):
        return {"date": moment.isoformat(), "dateTime": None, "timeZone": None}
    if moment.tzinfo is None or isinstance(moment.tzinfo, timezone):
        moment = moment.astimezone(UTC)
    return {"dateTime": moment.isoformat(), "timeZone": zone_name(moment.tzinfo), "date": None}


def read_event(raw: JSON, calendar: str, zone: str, rules: Sequence[str] = ()) -> Event:
    """An event, a series or an occurrence; raises `ValueError` or `KeyError` for what is not one."""
    start = read_moment(raw.get("start"), zone)
    organizer = raw.get("organizer") or {}
    return Event(
        id=str(reference(raw, calendar)),
        calendar=calendar,
        title=str(raw.get("summary", "")),
        start=start,
        end=read_moment(raw.get("end"), zone),
        location=str(raw.get("location", "")),
        description=str(raw.get("description", "")),
        attendees=tuple(_attendee(attendee) for attendee in raw.get("attendees", [])),
        organizer=str(organizer.get("email", "")),
        mine=bool(organizer.get("self", not organizer)) or bool(raw.get("guestsCanModify")),
        status=str(raw.get("status", "confirmed")),
        transparent=raw.get("transparency") == "transparent" or _is_declined(raw),
        rules=tuple(rules) or rules_in(raw),
        recurring="recurringEventId" in raw or bool(raw.get("recurrence")),
        reminders=_reminders(raw),
        link=str(raw.get("htmlLink", "")),
    )


def reference(raw: JSON, calendar: str) -> EventRef:
    """An occurrence is known by its series and by the id that Google gave it."""
    series = raw.get("recurringEventId")
    if not series:
        return EventRef(calendar, str(raw["id"]))
    return EventRef(calendar, str(series), own=str(raw["id"]))


def _is_declined(raw: JSON) -> bool:
    """Whether the user declined it, which leaves the time free."""
    own = [attendee for attendee in raw.get("attendees", []) if attendee.get("self")]
    return any(attendee.get("responseStatus") == "declined" for attendee in own)


def rules_in(raw: JSON) -> tuple[str, ...]:
    """The rules of a series, without their name."""
    return tuple(line[6:] for line in raw.get("recurrence") or () if line.upper().startswith("RRULE:"))


def _attendee(raw: JSON) -> Attendee:
    return Attendee(
        address=str(raw.get("email", "")),
        name=str(raw.get("displayName", "")),
        response=_RESPONSES.get(raw.get("responseStatus", ""), "needs-action"),
        optional=bool(raw.get("optional")),
    )


def _reminders(raw: JSON) -> tuple[int, ...]:
    given = (raw.get("reminders") or {}).get("overrides") or ()
    return tuple(sorted({int(reminder["minutes"]) for reminder in given if "minutes" in reminder}))


def new_body(new: NewEvent) -> JSON:
    """The body that creates an event."""
    body: JSON = {
        "summary": new.title,
        "start": _present(write_moment(new.start)),
        "end": _present(write_moment(new.end)),
    }
    if new.location:
        body["location"] = new.location
    if new.description:
        body["description"] = new.description
    if new.attendees:
        body["attendees"] = [write_attendee(attendee) for attendee in new.attendees]
    if new.rules:
        body["recurrence"] = [f"RRULE:{rule}" for rule in new.rules]
    if new.reminders is not None:
        body["reminders"] = write_reminders(new.reminders)
    return body


def _present(moment: JSON) -> JSON:
    return {key: value for key, value in moment.items() if value is not None}


def write_attendee(attendee: Attendee) -> JSON:
    body: JSON = {"email": attendee.address}
    if attendee.name:
        body["displayName"] = attendee.name
    if attendee.optional:
        body["optional"] = True
    return body


def write_reminders(minutes: Sequence[int]) -> JSON:
    return {"useDefault": False, "overrides": [{"method": "popup", "minutes": before} for before in minutes]}


def changed_fields(raw: JSON, changes: EventChanges) -> JSON:
    """The body of a patch for everything but times and rules."""
    body: JSON = {}
    for name, value in (
        ("summary", changes.title),
        ("location", changes.location),
        ("description", changes.description),
    ):
        if value is not None:
            body[name] = value
    if changes.attendees is not None:
        known = {str(attendee.get("email", "")).lower(): attendee for attendee in raw.get("attendees", [])}
        body["attendees"] = [
            known.get(attendee.address.lower()) or write_attendee(attendee) for attendee in changes.attendees
        ]
    if changes.reminders is not None:
        body["reminders"] = write_reminders(changes.reminders)
    if changes.response is not None:
        attendees = body.get("attendees") or raw.get("attendees") or []
        body["attendees"] = _answered(attendees, changes.response)
    return body


def _answered(attendees: Sequence[JSON], response: Response) -> list[JSON]:
    answer = "needsAction" if response == "needs-action" else response
    return [
        {**attendee, "responseStatus": answer} if attendee.get("self") else attendee for attendee in attendees
    ]


def with_rules(raw: JSON, rules: Sequence[str], start: Moment, change: Change | None = None) -> list[str]:
    """The recurrence of a series with other rules; its dates stay, or are changed."""
    kept = [line for line in raw.get("recurrence") or () if not line.upper().startswith("RRULE:")]
    if change is not None:
        kept = [changed for line in kept if (changed := _changed(line, start, change))]
    return [*(f"RRULE:{rule}" for rule in rules), *kept]


def _changed(line: str, start: Moment, change: Change) -> str:
    """One line; empty if no date is left, and as it is if its dates cannot be read."""
    name, _, values = line.partition(":")
    try:
        given = [_placed(read_key(value.strip()), name, start) for value in values.split(",")]
    except ToolFailure:
        return line
    dates = [changed for moment in given if (changed := change(moment)) is not None]
    if not dates:
        return ""
    kind = "" if isinstance(dates[0], datetime) else ";VALUE=DATE"
    return f"{name.partition(';')[0]}{kind}:{','.join(map(occurrence_key, dates))}"


def _placed(moment: Moment, name: str, start: Moment) -> Moment:
    """In the zone that the line names, else that of the series."""
    if not isinstance(moment, datetime) or not isinstance(start, datetime):
        return moment
    if moment.tzinfo is None:
        named = [part[5:] for part in name.split(";")[1:] if part.upper().startswith("TZID=")]
        moment = moment.replace(tzinfo=(find_zone(named[0]) if named else None) or start.tzinfo)
    return moment.astimezone(start.tzinfo)


@dataclass(frozen=True)
class Exceptions:
    cancelled: tuple[Moment, ...] = ()
    """Original starts."""
    changed: tuple[JSON, ...] = ()

    def since(self, at: Moment) -> Exceptions:
        """Those of the occurrences from one on."""
        return Exceptions(
            tuple(moment for moment in self.cancelled if not before(moment, at)),
            tuple(occurrence for occurrence in self.changed if not before(original(occurrence), at)),
        )


@dataclass(frozen=True)
class KeptOccurrence:
    """A changed occurrence that the new series has as well."""

    id: str
    """Its id in the old series."""
    original: Moment
    """Its original start in the new one."""
    body: JSON


@dataclass(frozen=True)
class SeriesPlan:
    body: JSON
    """The patch of the series, or the new series."""
    kept: tuple[KeptOccurrence, ...] = ()
    lost: tuple[str, ...] = ()
    """What cannot be kept, one sentence each."""
    removed: tuple[str, ...] = ()
    """Ids of changed occurrences that cannot be kept."""


def original(raw: JSON) -> Moment:
    return read_moment(raw["originalStartTime"], str((raw.get("start") or {}).get("timeZone") or ""))


def times(raw: JSON) -> tuple[Moment, Moment]:
    return read_moment(raw.get("start")), read_moment(raw.get("end"))


def before(moment: Moment, at: Moment) -> bool:
    return wall(on_clock(at, moment)) < wall(at)


def exceptions_of(master: JSON, instances: Iterable[JSON]) -> Exceptions:
    """The deleted and changed occurrences among all of a series."""
    start = times(master)[0]
    cancelled: list[Moment] = []
    changed: list[JSON] = []
    for raw in instances:
        if raw.get("status") == "cancelled":
            cancelled.append(on_clock(start, original(raw)))
        elif _own_times(raw, master) or _own_fields(raw, master):
            changed.append(raw)
    return Exceptions(tuple(cancelled), tuple(changed))


def _own_times(raw: JSON, master: JSON) -> JSON:
    """Start and end of an occurrence if the series does not give them."""
    start, end = times(master)
    at = on_clock(start, original(raw))
    expected = (at, shifted(at, wall(end) - wall(start)))
    if [occurrence_key(moment) for moment in times(raw)] == [occurrence_key(moment) for moment in expected]:
        return {}
    return {"start": raw["start"], "end": raw["end"]}


def _own_fields(raw: JSON, master: JSON) -> JSON:
    """The fields in which an occurrence differs from its series; None for those that it does not have."""
    names = dict.fromkeys((*master, *raw))
    return {
        name: raw.get(name)
        for name in names
        if name not in OWN_FIELDS and name not in _OF_SERIES and raw.get(name) != master.get(name)
    }


def plan_all(
    master: JSON,
    changes: EventChanges,
    exceptions: Exceptions,
    target: JSON | None = None,
    old: JSON | None = None,
) -> SeriesPlan:
    """The patch of a series. New times are those of `target`; a new series continues `old`."""
    start, end = times(master)
    fields = changed_fields(master, changes)
    from_start, from_end = times(target) if target and old is None else (start, end)
    first, last = changes.times(from_start, from_end)
    by = wall(first) - wall(from_start)
    new_start = like(first, wall(start) + by) if changes.moves else start
    body = dict(fields)
    if changes.moves:
        new_end = like(first, wall(new_start) + (wall(last) - wall(first)))
        body |= {"start": write_moment(new_start), "end": write_moment(new_end)}
    if changes.rules is not None:
        rules = [checked_rule(rule, new_start) for rule in changes.rules]
    else:
        rules = [moved_rule(rule, start, new_start) if changes.moves else rule for rule in rules_in(master)]

    def moved(moment: Moment) -> Moment:
        return like(new_start, wall(on_clock(start, moment)) + by) if changes.moves else moment

    if changes.moves or changes.rules is not None:
        lines = with_rules(master, rules, start, moved)
        excluded = [occurrence_key(moved(moment)) for moment in exceptions.cancelled]
        kind = "" if isinstance(new_start, datetime) else ";VALUE=DATE"
        lines += [f"EXDATE{kind}:{','.join(excluded)}"] if excluded and rules else []
        body["recurrence"] = lines if rules or changes.rules is None else None
    kept: list[KeptOccurrence] = []
    lost: list[JSON] = []
    same_kind = isinstance(new_start, datetime) == isinstance(start, datetime)
    for raw in exceptions.changed:
        at = moved(on_clock(start, original(raw)))
        if not same_kind or (changes.rules is not None and not _has(rules, new_start, at)):
            lost.append(raw)
            continue
        own = _own_fields(raw, old or master) | _own_times(raw, old or master)
        if target is not None and raw["id"] == target["id"]:
            own = {name: value for name, value in own.items() if name not in body}
            if changes.moves and old is None:
                own |= {"start": write_moment(first), "end": write_moment(last)}
        if old is None and not changes.moves and changes.rules is None:
            own = {name: value for name, value in fields.items() if name not in own}
        kept.append(KeptOccurrence(str(raw["id"]), at, own))
    removed = tuple(str(raw["id"]) for raw in lost)
    return SeriesPlan(
        body, tuple(exception for exception in kept if exception.body), tuple(map(_lost, lost)), removed
    )


def _has(rules: Sequence[str], start: Moment, at: Moment) -> bool:
    return any(wall(at) in set(dates(rule, start, wall(at))) for rule in rules)


def _lost(raw: JSON) -> str:
    title, start = str(raw.get("summary", "")), times(raw)[0]
    return (
        f"The changed occurrence {title[:60]!r} of {day_text(original(raw))} (now on {day_text(start)}) "
        "is not in the new series: it is removed."
    )


def plan_following(
    master: JSON, at: Moment, changes: EventChanges, exceptions: Exceptions, target: JSON
) -> SeriesPlan:
    """The series that continues another one from an occurrence on."""
    start, end = times(master)
    later = {key: value for key, value in master.items() if key not in OWN_FIELDS}
    later["start"] = write_moment(at)
    later["end"] = write_moment(shifted(at, wall(end) - wall(start)))
    rules = [split_rule(rule, start, at)[1] for rule in rules_in(master)]
    later["recurrence"] = with_rules(
        master, rules, start, lambda moment: None if before(moment, at) else moment
    )
    coming = exceptions.since(at)
    if coming.cancelled:
        kind = "" if isinstance(start, datetime) else ";VALUE=DATE"
        keys = ",".join(map(occurrence_key, coming.cancelled))
        later["recurrence"].append(f"EXDATE{kind}:{keys}")
    plan = plan_all(later, changes, replace(coming, cancelled=()), target, master)
    body, lost = {**later, **plan.body}, list(plan.lost)
    solution = ((master.get("conferenceData") or {}).get("conferenceSolution") or {}).get("key") or {}
    if solution.get("type") == "hangoutsMeet":
        request = {"requestId": secrets.token_hex(16), "conferenceSolutionKey": {"type": "hangoutsMeet"}}
        body["conferenceData"] = {"createRequest": request}
        lost.append("The changed occurrences get a new meeting link.")
    elif master.get("conferenceData"):
        lost.append("The changed occurrences have no meeting link: add it again.")
    return replace(plan, body=_without_nulls(body), lost=tuple(lost))


def rules_before(master: JSON, at: Moment) -> JSON:
    """The patch that ends a series before an occurrence."""
    start = times(master)[0]
    rules = [split_rule(rule, start, at)[0] for rule in rules_in(master)]
    return {
        "recurrence": with_rules(master, rules, start, lambda moment: moment if before(moment, at) else None)
    }


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    return value
