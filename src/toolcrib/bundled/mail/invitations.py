"""Invitations (`text/calendar`) in mail as plain text, with times in the zone of this machine: labels such as
"Invitation" or "Cancelled", how repetition and answers are shown, and the most events and people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo

from toolcrib.serverkit.visible_text import one_line, visible

MAX_EVENTS = 20
MAX_PEOPLE = 50
MAX_DESCRIPTION = 4000
_METHODS = {
    "REQUEST": "Invitation",
    "CANCEL": "Cancelled",
    "REPLY": "Answer to an invitation",
    "COUNTER": "Proposal of another time",
    "DECLINECOUNTER": "The proposal of another time was declined",
    "REFRESH": "Request for the latest version of an event",
}
_LINE = re.compile(r'([A-Za-z0-9-]+)((?:;(?:"[^"]*"|[^":])*)?):(.*)', re.DOTALL)
_PARAMETER = re.compile(r';([A-Za-z0-9-]+)=("[^"]*"|[^;]*)')
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(Z?))?")
_DURATION = re.compile(r"\+?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
_OFFSET = re.compile(r"([+-])(\d\d)(\d\d)")
_DAY = re.compile(r"([+-]?\d)?(MO|TU|WE|TH|FR|SA|SU)")
_WEEK = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


class Property(NamedTuple):
    parameters: Mapping[str, str]
    value: str

    @property
    def text(self) -> str:
        escapes = {"n": "\n", "N": "\n"}
        return re.sub(r"\\(.)", lambda found: escapes.get(found[1], found[1]), self.value)

    @property
    def person(self) -> str:
        """The name and address, and the answer if there is one."""
        address = one_line(re.sub("^mailto:", "", self.value, flags=re.IGNORECASE))
        name = one_line(self.parameters.get("CN", ""))
        who = f"{name} <{address}>" if name and name != address else address
        answer = self.parameters.get("PARTSTAT", "").lower()
        return who if answer in ("", "needs-action") else f"{who} ({one_line(answer)})"


@dataclass
class Component:
    name: str
    properties: dict[str, list[Property]] = field(default_factory=dict)
    children: list[Component] = field(default_factory=list)

    def first(self, name: str) -> Property | None:
        return next(iter(self.properties.get(name, ())), None)

    def text(self, name: str) -> str:
        found = self.first(name)
        return found.text if found else ""


def invitation_text(data: str) -> str:
    """What, when, where and who; empty if there is no event in it."""
    calendar = _parsed(data)
    events = [component for component in _walk(calendar) if component.name in ("VEVENT", "VTODO")]
    method = next((component.text("METHOD") for component in _walk(calendar) if component.text("METHOD")), "")
    zones = {zone.text("TZID"): zone for zone in _walk(calendar) if zone.name == "VTIMEZONE"}
    texts = [_event(event, _METHODS.get(method.strip().upper(), "Event"), zones) for event in events]
    if len(texts) > MAX_EVENTS:
        texts = [*texts[:MAX_EVENTS], f"({len(texts) - MAX_EVENTS} more events are not shown)"]
    return "\n\n".join(texts)


def _parsed(data: str) -> Component:
    root = Component("")
    stack = [root]
    for line in re.sub(r"\r?\n[ \t]", "", data).splitlines():
        match = _LINE.fullmatch(line.strip())
        if match is None:
            continue
        name, value = match[1].upper(), match[3]
        if name == "BEGIN" and len(stack) < 10:
            stack.append(Component(value.strip().upper()))
            stack[-2].children.append(stack[-1])
        elif name == "END" and len(stack) > 1:
            stack.pop()
        else:
            parameters = {key.upper(): given.strip('"') for key, given in _PARAMETER.findall(match[2])}
            stack[-1].properties.setdefault(name, []).append(Property(parameters, value))
    return root


def _walk(component: Component) -> Iterator[Component]:
    yield component
    for child in component.children:
        yield from _walk(child)


def _event(event: Component, what: str, zones: Mapping[str, Component]) -> str:
    people = [attendee.person for attendee in event.properties.get("ATTENDEE", ())]
    more = f" and {len(people) - MAX_PEOPLE} more" if len(people) > MAX_PEOPLE else ""
    organizer = event.first("ORGANIZER")
    fields = {
        what: one_line(event.text("SUMMARY")) or "(no title)",
        "When": _when(event, zones),
        "Instead of": _shown(event.first("RECURRENCE-ID"), zones),
        "Repeats": _repetition(event.text("RRULE")),
        "Where": one_line(event.text("LOCATION")),
        "Organizer": organizer.person if organizer else "",
        "Attendees": ", ".join(people[:MAX_PEOPLE]) + more,
        "Status": one_line(event.text("STATUS")).lower(),
    }
    lines = [f"{name}: {value}" for name, value in fields.items() if value]
    description = visible(event.text("DESCRIPTION")).strip()[:MAX_DESCRIPTION]
    return "\n".join([*lines, *([description] if description else [])])


def _when(event: Component, zones: Mapping[str, Component]) -> str:
    start, end = event.first("DTSTART"), event.first("DTEND") or event.first("DUE")
    begin, until = _moment(start, zones), _moment(end, zones)
    duration = _DURATION.fullmatch(event.text("DURATION").strip())
    if begin is not None and until is None and duration:
        weeks, days, hours, minutes, seconds = (int(number or 0) for number in duration.groups())
        until = begin + timedelta(days, seconds, 0, 0, minutes, hours, weeks)
    if begin is None:
        return _shown(start, zones) or _shown(end, zones)
    if not isinstance(begin, datetime):
        last = until - timedelta(days=1) if until and not isinstance(until, datetime) else begin
        return _day(begin) + (f" to {_day(last)}" if last > begin else "") + ", all day"
    return _span(begin, until, start.parameters.get("TZID", "") if start else "")


def _span(begin: datetime, until: date | None, tzid: str) -> str:
    unknown = begin.tzinfo is None and tzid
    begin = begin.astimezone() if begin.tzinfo else begin
    text = f"{_day(begin)} {begin:%H:%M}"
    if isinstance(until, datetime):
        until = until.astimezone() if until.tzinfo else until
        same_day = until.date() == begin.date()
        text += f" to {until:%H:%M}" if same_day else f" to {_day(until)} {until:%H:%M}"
    zone = begin.tzname() or (f"in the unknown time zone {one_line(tzid)}" if unknown else "local time")
    return f"{text} {zone}"


def _shown(given: Property | None, zones: Mapping[str, Component]) -> str:
    moment = _moment(given, zones)
    if given is None or moment is None:
        return one_line(given.value) if given else ""
    if isinstance(moment, datetime):
        return _span(moment, None, given.parameters.get("TZID", ""))
    return _day(moment)


def _day(moment: date) -> str:
    return f"{moment:%a} {moment.day} {moment:%b} {moment.year}"


def _repetition(rule: str) -> str:
    """Such as `weekly (BYDAY=MO)`."""
    parts = [part for part in one_line(rule).split(";") if part]
    words = [part.partition("=")[2].lower() for part in parts if part.upper().startswith("FREQ=")]
    rest = ";".join(part for part in parts if not part.upper().startswith("FREQ="))
    return " ".join([*words, *([f"({rest})"] if rest else [])])


def _moment(given: Property | None, zones: Mapping[str, Component]) -> date | None:
    """A day, or a time: in its zone, or without one if that is unknown."""
    match = _TIME.fullmatch(given.value.strip()) if given else None
    if given is None or match is None:
        return None
    try:
        day = date(int(match[1]), int(match[2]), int(match[3]))
        if match[4] is None:
            return day
        time = datetime(day.year, day.month, day.day, int(match[4]), int(match[5]), int(match[6] or 0))
        tzid = given.parameters.get("TZID", "")
        zone = UTC if match[7] else _named_zone(tzid) or _defined_zone(zones.get(tzid), time)
        return time.replace(tzinfo=zone)
    except (ValueError, OverflowError):
        return None


def _named_zone(tzid: str) -> tzinfo | None:
    """By an IANA name, which some programs put behind a prefix."""
    parts = tzid.strip("/").split("/")
    for start in range(len(parts)):
        try:
            return ZoneInfo("/".join(parts[start:]))
        except (KeyError, ValueError, OSError):
            continue
    return None


def _defined_zone(zone: Component | None, time: datetime) -> tzinfo | None:
    """The offset at this time by the definition in the invitation, as Outlook's zones need it."""
    if zone is None:
        return None
    if named := _named_zone(zone.text("X-LIC-LOCATION")):
        return named
    years = (time.year - 1, time.year)
    changes = [(_change(observance, year), observance) for observance in zone.children for year in years]
    begun = [
        (change, observance.text("TZOFFSETTO")) for change, observance in changes if change and change <= time
    ]
    offsets = [offset for _, offset in sorted(begun)] or [
        observance.text("TZOFFSETTO") for observance in zone.children
    ]
    match = _OFFSET.match(offsets[-1]) if offsets else None
    if match is None:
        return None
    offset = timedelta(hours=int(match[2]), minutes=int(match[3]))
    return timezone(-offset if match[1] == "-" else offset)


def _change(rule: Component, year: int) -> datetime | None:
    """When this offset begins in a year."""
    start = _TIME.fullmatch(rule.text("DTSTART").strip())
    if start is None or start[4] is None or int(start[1]) > year:
        return None
    parts = dict(part.partition("=")[::2] for part in rule.text("RRULE").upper().split(";"))
    month = int(parts["BYMONTH"]) if parts.get("BYMONTH", "").isdigit() else int(start[2])
    weekday = _DAY.fullmatch(parts.get("BYDAY", ""))
    day = _nth(year, month, weekday) if weekday else date(year, month, int(start[3]))
    return datetime(day.year, day.month, day.day, int(start[4]), int(start[5]))


def _nth(year: int, month: int, wanted: Sequence[str] | re.Match[str]) -> date:
    """Such as the last Sunday of a month."""
    number, weekday = int(wanted[1] or 1), _WEEK.index(wanted[2])
    if number > 0:
        first = date(year, month, 1)
        return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (number - 1))
    last = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
    return last - timedelta(days=(last.weekday() - weekday) % 7 + 7 * (-number - 1))
