"""Understands a sentence such as "Lunch with Anna at Mario's Friday 12:30" as an event: hours without am or
pm (dinner is in the evening), parts of the day, default length, title, place, people, and refusals of unclear
sentences.

Every word is used, or part of the title, place or people. A sentence with words about time that are not
understood is refused with the call to make instead, and so is one that can be read in two ways.
"""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from toolcrib.bundled.calendar.model import Attendee, Moment, NewEvent, like, wall
from toolcrib.bundled.calendar.rules import checked_rule, first_date, take_repetition
from toolcrib.bundled.calendar.zones import clock_zone, find_zone, settled, zone_name
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.mail_address import header_text, mailto_address
from toolcrib.serverkit.repetitions import Repetition, mark_repetitions
from toolcrib.serverkit.time_phrases import (
    ALL_DAY,
    DAY,
    DAY_NAME,
    DONE,
    GAP,
    KEPT,
    LENGTH,
    MOMENT,
    MONTHS,
    NUMBERS,
    PART,
    PARTS,
    TIME,
    TO,
    WEEKDAYS,
    MarkedWords,
    Phrase,
    TimeOfDay,
    mark_days,
    mark_lengths,
    mark_moments,
    mark_of,
    mark_parts,
    mark_times,
)

MAX_LENGTH = 1000
DEFAULT_LENGTH = timedelta(hours=1)
LONGEST_NIGHT = timedelta(hours=14)
"""Of an event that ends at an earlier time of day than it starts."""
FAR = timedelta(days=300)
"""A day without a year that is later than this has just passed."""
_WORD = r"[^\W\d_][\w.'’-]*"
_ADDRESS = (
    rf"(?:(?P<name>{_WORD}(?:\s+{_WORD})?)\s+)?<?(?<![\w.+-])(?P<address>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)>?"
)
_PLACE = re.compile(
    rf"(?:^|\s|{GAP})(?:at|in|@)\s+(?P<place>[^\ue000-\uf8ff]+?)\s*(?=$|{GAP})", re.IGNORECASE
)
_ENDS = re.compile(
    r"^(?:(?:and|with|on|at|from)\b|[,;:–-])\s*|\s*(?:\b(?:and|with|on|at|from|for)|[,;:–-])$", re.IGNORECASE
)
_NUMBERED = (
    r"1:1s?|one\s+on\s+one|1\s+on\s+1|#\d+|(?:rooms?|gate|chapters?|sprint|phase|levels?|episode|season|volume"
    r"|version|terminal|platform|hall|suite|apartment|apt|building|grades?|ages?|pages?|lessons?|units?|track"
    r"|floor|iphone|windows|route|highway)\.?\s+#?\d+(?:[-–]\d+)?[a-z]?"
    r"|\d{3}-\d{3}-\d{4}|(?:call|ring|phone|dial|text|fax)\s+(?!\d00-\d\d00)\d{3}-\d{4}"
)
"""Numbers that belong to a title."""
_WRAPPED = re.compile(r"^[^\w#]+|[^\w%]+$")
_EVENING = re.compile(
    r"\b(?:dinner|supper|drinks|party|concert|movie|cinema|film|theat(?:re|er)|opera|gig|pub|beers?|show)\b",
    re.I,
)
_EARLY = re.compile(r"\b(?:breakfast|wake|jog|run)\b", re.I)
_DAY, _CLOCK, _FROM = mark_of(DAY), rf"(?:\bat\s+)?{mark_of(TIME)}", r"(?:\bfrom\s+)?"
_SHAPES = (
    (rf"{_FROM}{_DAY}[\s,]*{_CLOCK}{TO}{_DAY}[\s,]*{_CLOCK}", ("day", "clock", "last_day", "last_clock")),
    (rf"{_FROM}{_DAY}{TO}{_DAY}", ("day", "last_day")),
    (rf"{_FROM}{_CLOCK}{TO}{_CLOCK}", ("clock", "last_clock")),
    (_CLOCK, ("clock",)),
    (_DAY, ("day",)),
    (mark_of(MOMENT), ("moment",)),
)
"""Marks that belong together and what they say of an event, the longest first; each is said once."""

_TOKEN = re.compile(rf"{GAP}|{KEPT}.|[^\s\ue000-\uf8ff]+")
_MARK = re.compile(GAP)
_SYMBOL = re.compile(r"[~<>≈±/+=|&]+")
_UNIT = re.compile(
    r"(?:\d[^/–-]*[/–-])?\d+(?:[.:,]\d+)?(?:st|nd|rd|th|(?-i:[aphmsdwxy])|[ap]+m+|hrs?|hours?|mins?|minutes?|secs?|days?|wks?|weeks?|yrs?"
    r"|uhr|-?ish|h\d+)",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)", re.IGNORECASE)
_WEEK = re.compile(r"(?:kw|cw|wk|week|w|x)\.?\d+", re.IGNORECASE)
_DAY_LETTERS = re.compile(
    r"(?:mo?|tu?|we?|th|r|fr?|sa?|su?)(?:[/,&+-](?:mo?|tu?|we?|th|r|fr?|sa?|su?))+", re.IGNORECASE
)
_RELATIVE = re.compile(
    r"^(?:(?:after|before|around|during) (?:work|school|class)|(?:after|before|around|during|at) "
    r"(?:breakfast|lunch|dinner|supper)) "
    r"| (?:first|second|third|fourth|fifth|last|\d+(?:st|nd|rd|th)) (?:and|or|&|,)$"
    r"|^(?:in|the|some) (?:latest|earliest|point|winter|spring|summer|autumn|fall) (?:$|[\ue000-\ue007])"
)
"""`after lunch`, `first and third`, `at the latest`."""
_LONG_NAMES = [
    *(name for name in (*WEEKDAYS, *MONTHS) if len(name) > 5),
    *("tomorrow", "tonight", "morning", "afternoon", "evening", "midnight", "weekly", "monthly"),
]
_NOT_MISSPELT = ("money", "frida", "sundry", "moaning")
_PLAIN_LETTERS = str.maketrans("łøđıæœß", "lodiaos")
_TENS = {
    *NUMBERS, "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    "twenty", "thirty", "forty", "fifty",
}  # fmt: skip
_NOT_LANGUAGES = ("beside", "ahead", "instead_of_day", "zones", "zones_in_capitals", "holidays")


@dataclass
class _Reading:
    """What the marks of a sentence say."""

    repetition: Repetition | None = None
    day: MarkedWords | None = None
    last_day: MarkedWords | None = None
    clock: MarkedWords | None = None
    last_clock: MarkedWords | None = None
    moment: MarkedWords | None = None
    length: timedelta | None = None
    all_day: bool = False
    part: str = ""
    through: bool = False
    """One event from the first time on the first day to the last time on the last day."""
    said_start: bool = False
    """The day is that from which a repetition starts."""


def understand(text: str, now: datetime) -> NewEvent:
    """The event that a sentence describes; `now` is in the user's zone. Raises `ToolFailure`."""
    if len(text) > MAX_LENGTH:
        raise ToolFailure(f"The text is longer than {MAX_LENGTH} characters.", "Use create_event.")
    phrase = Phrase.of(text)
    people = _take_people(phrase)
    phrase.mark(KEPT, _NUMBERED, lambda found: found[0])
    _mark(phrase, now)
    reading = _read(phrase)
    titled = Phrase(phrase.text, phrase.found)
    titled.restore(KEPT)
    place = _take_place(titled)
    blank = NewEvent(title=_title(titled.text), start=now, end=now, location=place, attendees=tuple(people))
    _check_words(phrase, reading, blank, now)
    if not blank.title:
        raise ToolFailure(f"The text {text[:80]!r} does not say what the event is.", "Add a title.")
    _check_unused(phrase, reading)
    return _checked(_event(reading, blank, now), reading, blank, now)


def read_moment(text: str, now: datetime) -> Moment | None:
    """A day or time in words, such as "tomorrow 15:00"; None if it is not one."""
    phrase = Phrase.of(text)
    if re.fullmatch("(?:right )?now", phrase.text, re.IGNORECASE):
        return now.replace(second=0, microsecond=0)
    _mark(phrase, now)
    reading = _read(phrase)
    ranged = reading.last_day or reading.last_clock or reading.repetition or reading.length or reading.all_day
    if ranged or re.search(r"\w|[\ue000-\uf8ff]", re.sub(mark_of(DONE), "", phrase.text)):
        return None
    if reading.clock and reading.clock.value.midnight and _is_other_day(reading):
        return None  # the beginning or the end of that day
    if reading.clock or reading.moment:
        _check_unused(phrase, reading)
        return settled(_times(reading, "", now)[0])
    return wall(reading.day.value).date() if reading.day and not reading.part else None


def _mark(phrase: Phrase, now: datetime) -> None:
    mark_repetitions(phrase)
    mark_days(phrase, now.date())
    mark_moments(phrase, now.replace(second=0, microsecond=0))
    mark_lengths(phrase)
    mark_times(phrase)
    mark_parts(phrase)
    phrase.mark(ALL_DAY, r"all[\s-]day(?:\s+long)?", lambda found: True)


def _read(phrase: Phrase) -> _Reading:
    """Use the marks by their order; those left over are not understood."""
    reading = _Reading()
    reading.repetition, reading.day = take_repetition(phrase)
    reading.said_start = reading.day is not None
    for pattern, names in _SHAPES:
        taken = any(getattr(reading, name) for name in names) or (reading.repetition and "last_day" in names)
        if not taken and (used := phrase.use(pattern)):
            for name, found in zip(names, used, strict=True):
                setattr(reading, name, found)
            reading.through |= len(names) == 4
    if used := phrase.use(mark_of(LENGTH)):
        reading.length = used[0].value.exact
    reading.all_day = phrase.use(mark_of(ALL_DAY)) is not None
    _read_part(phrase, reading)
    return reading


def _read_part(phrase: Phrase, reading: _Reading) -> None:
    """A part of the day beside a time belongs to it; elsewhere (`night shift`) it stays in the title too."""
    parts = {found.value for found in phrase.left(PART)}
    if len(parts) > 1:
        raise ToolFailure("The text names more than one part of the day.", "Say it with one time.")
    reading.part = next(iter(parts), "")
    done, part = rf"{DONE}[\ue100-\uf8ff]", mark_of(PART)
    while phrase.use(rf"(?<={done})[\s,]*{part}|^{part}[\s,]*(?={done})"):
        pass
    phrase.restore(PART)


def _check_unused(phrase: Phrase, reading: _Reading) -> None:
    names = {DAY: "day", TIME: "time", MOMENT: "time", LENGTH: "duration", ALL_DAY: "day"}
    for kind, name in names.items():
        if phrase.left(kind):
            raise ToolFailure(
                f"The text names more than one {name}.",
                "Say it with one, or use create_event with exact times.",
            )
    times = sum(map(bool, (reading.clock, reading.moment, reading.all_day)))
    if times > 1 or (reading.moment and (reading.day or reading.repetition)):
        raise ToolFailure("The text names more than one time.", "Say it with one, or use create_event.")


def _check_words(phrase: Phrase, reading: _Reading, blank: NewEvent, now: datetime) -> None:
    """Raises `ToolFailure` if words about time are left over."""
    day = reading.day.words if reading.day else "repeats" if reading.repetition else ""
    has_time = reading.clock is not None or reading.moment is not None
    rest = phrase.text
    if has_time and reading.part:
        rest = re.sub(rf"\b{reading.part}s?\b", "x", rest, flags=re.IGNORECASE)
    unknown = words_about_time(rest, day=day, has_time=has_time, year=now.year)
    if unknown:
        words = ", ".join(f"'{word}'" for word in dict.fromkeys(unknown))
        title = _title(
            " ".join(word for word in blank.title.split() if _WRAPPED.sub("", word) not in unknown)
        )
        raise ToolFailure(
            f"Not understood: {words}. No event was created.",
            f"Call {_partial_call(reading, replace(blank, title=title), now)} with the exact values instead.",
        )


def _partial_call(reading: _Reading, blank: NewEvent, now: datetime) -> str:
    """The call with what was understood; `…` stands for what was not."""
    day = f"{reading.day.value}" if reading.day else "…"
    try:
        new = _event(reading, blank, now)
    except ToolFailure:
        return f"create_event(title={_quoted(blank.title)}, start={_quoted(f'{day}T…')})"
    if reading.day or reading.moment:
        return call_text(new, now)
    start = _written(new.start).replace(f"{wall(new.start):%Y-%m-%d}", "…")
    return call_text(new, now, start)


def call_text(new: NewEvent, now: datetime, start: str = "") -> str:
    """The call of create_event that makes an event."""
    given: dict[str, object] = {"title": new.title, "start": start or _written(new.start)}
    last = wall(new.end).date() - timedelta(days=1)
    if not isinstance(new.start, datetime):
        given["end"] = last.isoformat() if last > new.start else ""
    elif wall(new.end) - wall(new.start) != DEFAULT_LENGTH:
        given["end"] = _written(new.end)
    if isinstance(new.start, datetime) and new.start.tzinfo != now.tzinfo:
        given["time_zone"] = zone_name(new.start.tzinfo)
    given |= {"location": new.location, "recurrence": "; ".join(new.rules)}
    given["attendees"] = [str(attendee) for attendee in new.attendees]
    return f"create_event({', '.join(f'{name}={_quoted(value)}' for name, value in given.items() if value)})"


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _written(moment: Moment) -> str:
    return f"{moment:%Y-%m-%dT%H:%M}" if isinstance(moment, datetime) else moment.isoformat()


def _event(reading: _Reading, blank: NewEvent, now: datetime) -> NewEvent:
    if reading.part and reading.clock is None and reading.moment is None:
        raise ToolFailure("The text does not say at what time.", f"Add it, such as '{reading.part} at 8'.")
    if not (reading.day or reading.clock or reading.moment or reading.repetition):
        raise ToolFailure(
            "The text does not say when.",
            "Add a day or a time, such as 'Friday 12:30' or 'tomorrow at noon'.",
        )
    start, end = _times(reading, blank.title, now)
    if reading.clock is not None and reading.clock.value.midnight and _is_other_day(reading):
        later = replace(blank, start=start + timedelta(days=1), end=end + timedelta(days=1))
        raise _two_readings("Midnight", [replace(blank, start=start, end=end), later], now)
    new = replace(blank, start=start, end=end)
    if reading.repetition is None:
        return new
    readings = [
        _repeated(new, repetition, reading)
        for repetition in (reading.repetition, reading.repetition.other)
        if repetition
    ]
    if reading.repetition.adjective and reading.day is not None and not reading.said_start:
        readings.append(replace(new, title=f"{reading.repetition.adjective} {new.title}"))
    if len(readings) > 1:
        raise _two_readings("The recurrence", readings, now)
    return readings[0]


def _two_readings(what: str, events: list[NewEvent], now: datetime) -> ToolFailure:
    calls = " or ".join(call_text(event, now) for event in events)
    return ToolFailure(f"{what} can mean two things. No event was created.", f"Call {calls}.")


def _repeated(new: NewEvent, repetition: Repetition, reading: _Reading) -> NewEvent:
    """A series whose first event is on a day of its rule."""
    named = reading.day is not None and not reading.said_start
    first, fixed = new.start, {"BYDAY", "BYMONTHDAY"} & set(repetition.parts)
    again = re.fullmatch(DAY_NAME, reading.day.words, re.I) if reading.day else None  # Taco Tuesday
    same = again and repetition.days == (wall(first).weekday(),)
    if named and not same and (fixed or repetition.parts["FREQ"] == "DAILY"):
        raise ToolFailure(
            "The text names a day beside those on which it repeats.",
            "Say from when with 'starting', or use create_event.",
        )
    if not fixed and not _names_day(repetition.parts["FREQ"], reading.day):
        raise ToolFailure(
            "The text does not say on which day it repeats.",
            "Name it, such as 'every Monday' or 'on the 15th of every month'.",
        )
    if fixed:
        parts = {name: value for name, value in repetition.parts.items() if name != "INTERVAL"}
        every = replace(repetition, parts=parts).rule(wall(first).date())
        first = first_date(checked_rule(every, first), first)
    end = like(first, wall(first) + (wall(new.end) - wall(new.start)))
    rule = checked_rule(repetition.rule(wall(first).date()), first)
    return replace(new, start=first, end=end, rules=(rule,))


def _names_day(frequency: str, day: MarkedWords | None) -> bool:
    """A weekday is enough for a week; a month or year needs a date."""
    if frequency == "DAILY":
        return True
    return day is not None and (frequency == "WEEKLY" or re.search(r"\d", day.words) is not None)


def _checked(new: NewEvent, reading: _Reading, blank: NewEvent, now: datetime) -> NewEvent:
    """Raises `ToolFailure` for an event in the past, or in a year that the text does not name."""
    new = replace(new, start=settled(new.start), end=settled(new.end))
    past = new.start < now.replace(second=0) if isinstance(new.start, datetime) else new.start < now.date()
    if past:
        raise ToolFailure(
            f"The event would start in the past, on {_written(new.start).replace('T', ' at ')}.",
            f"If that is meant, call {call_text(new, now)}.",
        )
    words = reading.day.words if reading.day else ""
    far = wall(new.start).date() - now.date() > FAR
    if far and not new.rules and re.search(r"\d", words) and not re.search(r"\d{4}", words):
        raise ToolFailure(
            f"'{words}' of this year is over.", f"If next year is meant, call {call_text(new, now)}."
        )
    return new


def _times(reading: _Reading, title: str, now: datetime) -> tuple[Moment, Moment]:
    if reading.moment is not None:
        start = settled(reading.moment.value)
        return start, start + (reading.length or DEFAULT_LENGTH)
    if reading.clock is None:
        return _whole_days(reading, now)
    start = _start(reading, title, now)
    if reading.last_day is not None and not reading.through:
        raise ToolFailure(
            "The text names several days and a time of day.",
            'Call create_event with `end` for one long event, or with recurrence="FREQ=DAILY;COUNT=…".',
        )
    if reading.last_clock is None:
        return start, start + (reading.length or DEFAULT_LENGTH)
    if reading.length is not None:
        raise ToolFailure("The text names an end and a duration.", "Say only one of them.")
    return start, _end(reading, start)


def _whole_days(reading: _Reading, now: datetime) -> tuple[date, date]:
    first: date = reading.day.value if reading.day else now.date()
    length = reading.length
    if length is not None and (length < timedelta(days=1) or reading.last_day is not None):
        raise ToolFailure("The text says how long, but not when.", "Add a time, such as 'at 15:00'.")
    if reading.last_day is None:
        return first, first + (length or timedelta(days=1))
    return first, _last(reading, first) + timedelta(days=1)


def _last(reading: _Reading, first: date) -> date:
    assert reading.last_day is not None
    last: date = reading.last_day.value
    if last < first and re.fullmatch(rf"(?:on\s+)?{DAY_NAME}", reading.last_day.words, re.IGNORECASE):
        last += timedelta(days=7)
    if last < first:
        raise ToolFailure(f"The event ends on {last}, before it starts on {first}.", "Name both years.")
    return last


def _is_other_day(reading: _Reading) -> bool:
    return reading.day is not None and reading.day.words.lower() != "today"


def _start(reading: _Reading, title: str, now: datetime) -> datetime:
    assert reading.clock is not None
    clock: TimeOfDay = reading.clock.value
    day: date | None = reading.day.value if reading.day else None
    at = _time_of(reading, title)
    zone = now.tzinfo
    if clock.zone:
        zone = clock_zone(clock.zone, datetime.combine(day or now.date(), at))
        there = now.astimezone(zone).date()
        if there != now.date() and (reading.day is None or not re.search(r"\d", reading.day.words)):
            raise ToolFailure(
                f"It is {there:%A} in {clock.zone} now and {now:%A} here.",
                "Name the date, such as 20 November.",
            )
    start = datetime.combine(day or now.date(), at, zone)
    if (day is None and start <= now) or (clock.midnight and not _is_other_day(reading)):
        start += timedelta(days=1)
    return start


def _time_of(reading: _Reading, title: str) -> time:
    """An hour without am or pm: by the part of the day or the end, else 1 to 6 is in the afternoon."""
    assert reading.clock is not None
    clock: TimeOfDay = reading.clock.value
    choices = clock.candidates
    if reading.part:
        first, last = PARTS[reading.part]
        fitting = [choice for choice in choices if first <= choice <= last]
        if len(fitting) != 1:
            raise ToolFailure(
                f"{clock.hour}:{clock.minute:02} is not a time of the {reading.part}.", "Name the exact time."
            )
        return fitting[0]
    if len(choices) == 1:
        return choices[0]
    end: TimeOfDay | None = reading.last_clock.value if reading.last_clock and not reading.last_day else None
    if end is not None and end.half in ("am", "pm"):
        return _latest_before(choices, end.candidates[0])
    evening = clock.hour < 7
    if _EVENING.search(title) if not evening and clock.hour < 12 else _EARLY.search(title) and evening:
        raise ToolFailure(
            f"{clock.hour}:{clock.minute:02} can be in the morning or in the evening.",
            f"Write {clock.hour}:{clock.minute:02}am or {clock.hour}:{clock.minute:02}pm.",
        )
    return choices[1] if evening or clock.hour == 12 else choices[0]


def _latest_before(choices: list[time], end: time) -> time:
    """11-1pm starts in the morning, 3-4pm in the afternoon."""

    def length(start: time) -> int:
        return ((end.hour - start.hour) * 60 + end.minute - start.minute - 1) % 1440

    return min(choices, key=length)


def _end(reading: _Reading, start: datetime) -> datetime:
    """The next time that the clock shows it."""
    assert reading.last_clock is not None
    clock: TimeOfDay = reading.last_clock.value
    zone = clock_zone(clock.zone, start.replace(tzinfo=None)) if clock.zone else start.tzinfo
    if reading.last_day is not None:
        at = _time_of(replace(reading, clock=reading.last_clock, last_clock=None, part=""), "")
        end = datetime.combine(_last(reading, start.date()), at, zone)
        if end <= start:
            raise ToolFailure("The event ends before it starts.", "Correct the times.")
        return end
    ends = [datetime.combine(start.date(), at, zone) for at in clock.candidates]
    end = min(end if end > start else end + timedelta(days=1) for end in ends)
    if end.date() > start.date() and end - start > LONGEST_NIGHT:
        raise ToolFailure(
            "The event ends before it starts.", "Correct the times, or name the day of its end."
        )
    return end


def _take_people(phrase: Phrase) -> list[Attendee]:
    """Those with an address; a name before it belongs to it. The name stays in the title."""
    found: list[Attendee] = []

    def name_only(match: re.Match[str]) -> str:
        words = (match["name"] or "").split()
        while words and words[0].lower() in ("with", "and", "invite", "invites", "for", "to"):
            words.pop(0)
        address = mailto_address(match["address"])
        if not address:
            raise ToolFailure(f"{match['address'][:60]!r} is not a mail address.", "Correct it.")
        found.append(Attendee(address=address, name=header_text(" ".join(words))))
        return match[0].replace(match["address"], "").replace("<", "").replace(">", "")

    phrase.text = " ".join(re.sub(_ADDRESS, name_only, phrase.text).split())
    return found


def _take_place(phrase: Phrase) -> str:
    found = _PLACE.search(phrase.text)
    if not found:
        return ""
    phrase.text = f"{phrase.text[: found.start()]}{phrase.put(DONE, found[0])}{phrase.text[found.end() :]}"
    return found["place"].strip(" ,.;!?")


def _title(rest: str) -> str:
    words = " ".join(re.sub(r"\(\s*\)|\[\s*\]", " ", re.sub(GAP, " ", rest)).split())
    words = re.sub(r"(?:\s+([,;.!?]))+(?!\S)", r"\1", words)
    previous = None
    while previous != words:
        previous, words = words, _ENDS.sub("", words).strip()
    return words


@cache
def _words(name: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Whole words, and beginnings of words."""
    lists = tomllib.loads(Path(__file__).with_name("time_words.toml").read_text(encoding="utf-8"))
    chosen = [name] if name else [key for key in lists if key not in _NOT_LANGUAGES]
    words = " ".join(lists[key] for key in chosen).split()
    whole = frozenset(word for word in words if not word.endswith("*"))
    return whole, tuple(word[:-1] for word in words if word.endswith("*"))


def _is_in(word: str, name: str = "") -> bool:
    whole, beginnings = _words(name)
    return word in whole or word.startswith(beginnings)


def words_about_time(text: str, *, day: str, has_time: bool, year: int) -> list[str]:
    """The words that cannot be part of a title; `day` has the words of the day that was understood."""
    tokens = [token for token in _TOKEN.findall(text) if not re.fullmatch(r"[-–—.,;:!?()\[\]]+", token)]
    marks = [_MARK.match(token) is not None for token in tokens]
    found: list[str] = []
    for at, token in enumerate(tokens):
        if marks[at] or token.startswith(KEPT):
            continue
        ahead = at + 1 < len(tokens) and marks[at + 1]
        beside = ahead or (at > 0 and marks[at - 1])
        inside = 0 < at < len(tokens) - 1 and not beside
        word = token.strip(".,;:!?()[]{}\"'“”‘’…-–—+~")
        around = f"{tokens[at - 1] if at else ''} {word} {''.join(tokens[at + 1 : at + 2])}".lower()
        if (
            _RELATIVE.search(around)
            or (not day and _is_foreign(token, tokens[at + 1 : at + 3], beside))
            or _says_time(word, ahead, beside, day)
            or _is_time_number(word, inside, beside, bool(day), has_time, year)
        ):
            found.append(word)
        elif beside and _SYMBOL.fullmatch(token):
            found.append(token)
    return found


def _says_time(word: str, ahead: bool, beside: bool, day: str) -> bool:
    if any(letter.isalpha() and not unicodedata.name(letter, "").startswith("LATIN") for letter in word):
        return True  # another script: its words are not known here
    if _DAY_LETTERS.fullmatch(word) or ("/" in word and find_zone(word) is not None):
        return True
    plain = _plain(word)
    pieces = {word.casefold(), plain, *re.split(r"[-/.’'&+\d]", plain)}
    if any(
        _is_in(piece) or (_is_in(piece, "holidays") and not re.search(r"\d", day))
        for piece in pieces
        if piece
    ):
        return True
    if _is_in(plain, "zones") and (beside or word.isupper()):
        return True
    if word in _words("zones_in_capitals")[0] and (beside or len(word) > 2):
        return True
    if plain not in _NOT_MISSPELT and get_close_matches(plain, _LONG_NAMES, 1, 0.8):
        return True
    if beside and (_is_in(plain, "beside") or (not day and _is_in(plain, "instead_of_day"))):
        return True
    return ahead and _is_in(plain, "ahead")


def _is_foreign(token: str, after: list[str], beside: bool) -> bool:
    """`24. okt 14:30`, `24 dez. 14:30` or `pon. 14:30`: a date or day as other languages shorten it."""
    if not re.fullmatch(r"(?:[1-9]|[12]\d|3[01])\.?", token):
        return beside and re.fullmatch(r"[^\W\d_]{1,7}\.", token) is not None
    month = re.fullmatch(r"(?:de|[^\W\d_]{3,6}\.?)", after[0]) if after else None
    return token.endswith(".") or bool(month and (after[0] == "de" or _MARK.match("".join(after[1:]))))


def _plain(word: str) -> str:
    """In small letters and without accents."""
    letters = unicodedata.normalize("NFKD", word.casefold().translate(_PLAIN_LETTERS))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _is_time_number(word: str, inside: bool, beside: bool, has_day: bool, has_time: bool, year: int) -> bool:
    if all(part in _TENS for part in word.lower().split("-")):
        return not (inside and has_time)
    if not re.search(r"\d", word) or word[0] in "$€£" or word[-1] in "%€£":
        return False
    if word.isdecimal():
        return _is_time_integer(int(word), len(word), inside, beside, has_time, year)
    if _ORDINAL.fullmatch(word):
        return beside or not has_day
    if _UNIT.fullmatch(word) or _WEEK.fullmatch(word) or re.search(r"\d{1,2}:\d\d", word):
        return True
    return not re.search(r"[^\W\d_]", word) and (beside or re.fullmatch(r"\W*\d+\W*", word) is None)


def _is_time_integer(number: int, digits: int, inside: bool, beside: bool, has_time: bool, year: int) -> bool:
    """Whether it can be an hour, a day, a year or a number of minutes."""
    if not has_time:
        return True
    if number < 100 or digits < 3:
        return not inside
    clock = digits in (3, 4) and number // 100 < 25 and number % 100 < 60 and number % 5 == 0
    return beside and (clock or year <= number <= year + 50)
