"""Events between Google Calendar's JSON and ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timezone
from typing import Any

from toolcrib.bundled.calendar.identifiers import EventRef
from toolcrib.bundled.calendar.model import Attendee, Event, EventChanges, Moment, NewEvent, Response
from toolcrib.bundled.calendar.zones import find_zone, zone_name

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
        attendees=tuple(_attendee(each) for each in raw.get("attendees", [])),
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
    own = [each for each in raw.get("attendees", []) if each.get("self")]
    return any(each.get("responseStatus") == "declined" for each in own)


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
    return tuple(sorted({int(each["minutes"]) for each in given if "minutes" in each}))


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
        body["attendees"] = [write_attendee(each) for each in new.attendees]
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
    return {"useDefault": False, "overrides": [{"method": "popup", "minutes": each} for each in minutes]}


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
        known = {str(each.get("email", "")).lower(): each for each in raw.get("attendees", [])}
        body["attendees"] = [
            known.get(each.address.lower()) or write_attendee(each) for each in changes.attendees
        ]
    if changes.reminders is not None:
        body["reminders"] = write_reminders(changes.reminders)
    if changes.response is not None:
        attendees = body.get("attendees") or raw.get("attendees") or []
        body["attendees"] = _answered(attendees, changes.response)
    return body


def _answered(attendees: Sequence[JSON], response: Response) -> list[JSON]:
    answer = "needsAction" if response == "needs-action" else response
    return [{**each, "responseStatus": answer} if each.get("self") else each for each in attendees]
