"""Marks what a text says about time: days, times of day, durations.

Each finder replaces all that it understands by marks. `quick_add` reads how the marks stand together
(`DAY to DAY`), uses each of them once, and checks that the words left over say nothing about time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any

from toolcrib.bundled.calendar.zones import find_zone
from toolcrib.serverkit.context import ToolFailure

DAY, TIME, LENGTH, MOMENT, REPEAT, PART, ALL_DAY, DONE, KEPT = map(chr, range(0xE000, 0xE009))
"""Kinds of marks. `DONE` stands for what was used, `KEPT` for words that belong to the title as they are."""
_FIRST = 0xE100
GAP = r"[\ue000-\ue007][\ue100-\uf8ff]"
"""Any mark but `KEPT`: words around it do not belong together."""
_PRIVATE = re.compile(r"[\ue000-\uf8ff]")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
NUMBERS = {
    name: number
    for number, name in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 1
    )
}
DAY_NAME = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"
_FULL_DAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_AMOUNT = rf"(\d+(?:[.,]\d+)?|an?|{'|'.join(NUMBERS)})"
_NTH = r"(\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?:,?\s+(\d{4}))?"
TO = r"\s*(?:-|–|—|(?<=\s)(?:to|until|till|through|thru)(?=\s))\s*"
_HALF = r"(a\.?m\.?|p\.?m\.?|uhr|o['’]?\s?clock)"
_CLOCK = rf"(\d{{1,2}})(?:[:.h](\d{{2}}))?(?:\s*{_HALF}|(h))?"
_AT = r"(?:(?:at|@)\s*(?<=[\s@]))"
_AFTER_HOUR = rf"(?=\s*(?:$|[,;)]|{GAP}|(?:with|w/|in|at|for|on|and|to|from|by|about|re|o'clock)\b))"
_SHORT_DAY_FOLLOWS = (
    rf"(?=\s*(?:$|[\d,;)/–—@-]|{GAP}|(?:at|in|on|with|w/|for|from|to|and|or|through|thru|until|till"
    r"|morning|afternoon|evening|night|noon|midnight|midday|all)\b))"
)
_ZONES = {
    "CET": "Europe/Berlin",
    "CEST": "Europe/Berlin",
    "ET": "America/New_York",
    "EST": "America/New_York",
    "EDT": "America/New_York",
    "CT": "America/Chicago",
    "CDT": "America/Chicago",
    "MT": "America/Denver",
    "MST": "America/Denver",
    "MDT": "America/Denver",
    "PT": "America/Los_Angeles",
    "PST": "America/Los_Angeles",
    "PDT": "America/Los_Angeles",
    "BST": "Europe/London",
    "WET": "Europe/Lisbon",
    "WEST": "Europe/Lisbon",
    "EET": "Europe/Helsinki",
    "EEST": "Europe/Helsinki",
    "MSK": "Europe/Moscow",
    "JST": "Asia/Tokyo",
    "KST": "Asia/Seoul",
    "HKT": "Asia/Hong_Kong",
    "SGT": "Asia/Singapore",
    "AEST": "Australia/Sydney",
    "AEDT": "Australia/Sydney",
    "NZST": "Pacific/Auckland",
    "NZDT": "Pacific/Auckland",
    "EASTERN TIME": "America/New_York",
    "CENTRAL TIME": "America/Chicago",
    "MOUNTAIN TIME": "America/Denver",
    "PACIFIC TIME": "America/Los_Angeles",
}
_ZONE = (
    rf"(?:\s*\(?(?P<zone>(?:UTC|GMT)(?:\s?[+-]\d{{1,2}}(?::?\d\d)?)?|[+-]\d\d:\d\d"
    rf"|(?-i:[A-Z][A-Za-z]+/[A-Z][A-Za-z_/-]+|ET|PT|CT|MT)"
    rf"|{'|'.join(name for name in _ZONES if len(name) > 2)}"
    rf"|(?:EASTERN|CENTRAL|MOUNTAIN|PACIFIC)(?!\s+(?-i:[A-Z])))(?!\w)\)?)?"
)


@dataclass(frozen=True)
class Clock:
    """A time of day as it was written."""

    hour: int
    minute: int
    half: str = ""
    """`am`, `pm`, `24` for a time that can only be meant one way, or empty."""
    zone: str = ""
    midnight: bool = False

    @property
    def candidates(self) -> list[time]:
        """The times that it can mean."""
        if self.half == "24":
            return [time(self.hour % 24, self.minute)]
        morning = time(self.hour % 12, self.minute)
        evening = morning.replace(hour=morning.hour + 12)
        return [each for each, half in ((morning, "am"), (evening, "pm")) if self.half in ("", half)]


@dataclass(frozen=True)
class Length:
    number: float
    unit: str
    """`minute`, `hour`, `day`, `week`, `month` or `year`."""

    @property
    def exact(self) -> timedelta:
        """Raises `ToolFailure` for months and years, which differ."""
        if self.unit in ("month", "year"):
            raise ToolFailure(f"An event cannot last {self.number:g} {self.unit}s.", "Name its last day.")
        return timedelta(**{f"{self.unit}s": self.number})


@dataclass(frozen=True)
class Found:
    words: str
    value: Any


@dataclass
class Phrase:
    """A text in which what was understood is replaced by marks."""

    text: str
    found: list[Found] = field(default_factory=list)

    @classmethod
    def of(cls, text: str) -> Phrase:
        """A text without characters that could be taken for marks."""
        return cls(" ".join(_PRIVATE.sub(" ", text).split()))

    def put(self, kind: str, words: str, value: Any = None) -> str:
        """A mark for something that was found."""
        if len(self.found) > 200:
            raise ToolFailure("The text names too many times.", "Use create_event, once for each event.")
        self.found.append(Found(words, value))
        return f"{kind}{chr(_FIRST + len(self.found) - 1)}"

    def mark(self, kind: str, pattern: str, read: Callable[[re.Match[str]], Any]) -> None:
        """Replace every match; `read` gives its value, or None for what is not one after all."""

        def replaced(match: re.Match[str]) -> str:
            value = read(match)
            return match[0] if value is None else self.put(kind, match[0], value)

        self.rewrite(pattern, replaced)

    def rewrite(self, pattern: str, replaced: Callable[[re.Match[str]], str]) -> None:
        """Replace every match that begins and ends at a word or number."""
        bounded = rf"(?<![\w@])(?<!\d[.:/,–—-])(?:{pattern})(?!\w|[:./,–—-]\d|[./]\w)"
        self.text = re.sub(bounded, replaced, self.text, flags=re.IGNORECASE)

    def use(self, pattern: str) -> list[Found] | None:
        """What the marks of the first match stand for; the match counts as used."""
        match = re.search(pattern, self.text, re.IGNORECASE)
        if match is None:
            return None
        self.text = f"{self.text[: match.start()]}{self.put(DONE, match[0])}{self.text[match.end() :]}"
        return [self.found[ord(index) - _FIRST] for index in match.groups() if index]

    def left(self, kind: str) -> list[Found]:
        """What was found of a kind and not used."""
        return [self.found[ord(index) - _FIRST] for index in re.findall(mark_of(kind), self.text)]

    def restore(self, kind: str) -> None:
        """Put the words of a kind of marks back."""
        self.text = re.sub(mark_of(kind), lambda each: self.found[ord(each[1]) - _FIRST].words, self.text)


def mark_of(kind: str) -> str:
    """The pattern of a mark."""
    return rf"{kind}([\ue100-\uf8ff])"


def weekday_number(name: str) -> int:
    """0 for Monday."""
    return next(number for number, day in enumerate(WEEKDAYS) if day.startswith(name[:3].lower()))


def amount(text: str) -> float:
    """`90`, `1.5`, `an`, `two`."""
    known = {"a": 1, "an": 1, **NUMBERS}.get(text.lower())
    return float(known or text.replace(",", "."))


def mark_days(phrase: Phrase, today: date) -> None:
    """Mark the days that a text names; raises `ToolFailure` for those that do not exist."""
    phrase.text = re.sub(r"(?<![\w-])(\d{4}-\d\d-\d\d)T(?=\d\d:\d\d)", r"\1 ", phrase.text)
    phrase.rewrite("tonight", lambda found: "today night")
    phrase.rewrite("this (morning|afternoon|evening|night)", lambda found: f"today {found[1]}")
    _mark_spans(phrase, today)
    lead = rf"(?:on\s+)?(?:({DAY_NAME}),?\s+)?(?:the\s+)?"

    def dated(pattern: str, read: Callable[[re.Match[str]], date]) -> None:
        phrase.mark(DAY, lead + pattern, lambda found: _on_weekday(read(found), found[1]))

    dated(r"(\d{4})-(\d\d)-(\d\d)", lambda found: _day(int(found[2]), int(found[3]), int(found[4])))
    dated(r"(\d{1,2})\.(\d{1,2})\.(\d{4})?", lambda found: _coming(int(found[3]), found[2], found[4], today))
    dated(
        rf"{_NTH}\s+(?:of\s+)?({_MONTH})\.?{_YEAR}",
        lambda found: _coming(_month_number(found[3]), found[2], found[4], today),
    )
    dated(
        rf"({_MONTH})\.?\s+(?:the\s+)?{_NTH}{_YEAR}",
        lambda found: _coming(_month_number(found[2]), found[3], found[4], today),
    )
    dated(r"(\d{1,2})/(\d{1,2})(?:/(\d{4}))?", lambda found: _slashed(found, today))
    dated(
        r"(?<=the )(\d{1,2})(?:st|nd|rd|th)(?!\s+(?:and|[^\W\d_]+\s+of)\b)",
        lambda found: _numbered(int(found[2]), today),
    )
    _mark_relative(phrase, today)
    _mark_weekdays(phrase, today)


def _mark_spans(phrase: Phrase, today: date) -> None:
    """`Nov 23-25` and `5-9 December` become two days with `to` between them."""
    number = r"(\d{1,2})(?:st|nd|rd|th)?"

    def two(found: re.Match[str], month: str, first: str, last: str, year: str | None) -> str:
        days = [_coming(_month_number(month), each, year, today) for each in (first, last)]
        first_mark, last_mark = (phrase.put(DAY, found[0], day) for day in days)
        return f"{first_mark} to {last_mark}"

    phrase.rewrite(
        rf"(?:from\s+)?({_MONTH})\.?\s+{number}{TO}{number}{_YEAR}",
        lambda found: two(found, found[1], found[2], found[3], found[4]),
    )
    phrase.rewrite(
        rf"(?:from\s+)?(?:the\s+)?{number}{TO}(?:the\s+)?{number}\s+(?:of\s+)?({_MONTH})\.?{_YEAR}",
        lambda found: two(found, found[3], found[1], found[2], found[4]),
    )


def _mark_relative(phrase: Phrase, today: date) -> None:
    phrase.mark(DAY, r"(?:the\s+)?day\s+after\s+tomorrow", lambda _: today + timedelta(days=2))
    phrase.mark(DAY, "today", lambda _: today)
    phrase.mark(DAY, "tomorrow", lambda _: today + timedelta(days=1))
    phrase.mark(
        DAY,
        rf"in\s+{_AMOUNT}\s+(day|week)s?",
        lambda found: (
            today + timedelta(days=round(amount(found[1]) * (7 if found[2].lower() == "week" else 1)))
        ),
    )


def _mark_weekdays(phrase: Phrase, today: date) -> None:
    """`Friday` is the coming one, today included; `next Friday` is that of next week."""
    monday = today - timedelta(days=today.weekday())

    def of_week(which: str, name: str) -> date:
        number = weekday_number(name)
        if which == "next":
            return monday + timedelta(days=7 + number)
        if which == "this" and number < today.weekday():
            raise ToolFailure(f"{name.title()} of this week is over.", f"Say 'next {name}' or a date.")
        return today + timedelta(days=(number - today.weekday()) % 7)

    week = r"(?:of\s+|in\s+)?(this|next)\s+week"
    phrase.mark(
        DAY,
        rf"(?:on\s+)?{week},?\s+(?:on\s+)?({DAY_NAME})",
        lambda found: of_week(found[1].lower(), found[2]),
    )
    phrase.mark(DAY, rf"(?:on\s+)?({DAY_NAME}),?\s+{week}", lambda found: of_week(found[2].lower(), found[1]))
    phrase.mark(
        DAY,
        rf"(?:on\s+)?(?:(this|next|coming)\s+)({DAY_NAME})",
        lambda found: of_week(found[1].lower(), found[2]),
    )
    for pattern in (_FULL_DAY, rf"{DAY_NAME}{_SHORT_DAY_FOLLOWS}", rf"(?<=on ){DAY_NAME}"):
        phrase.mark(DAY, rf"(?:on\s+)?({pattern})", lambda found: of_week("", found[1]))


def _on_weekday(day: date, name: str | None) -> date:
    if name and day.weekday() != weekday_number(name):
        raise ToolFailure(
            f"{day:%-d %B %Y} is a {WEEKDAYS[day.weekday()].title()}, not a {name}.",
            "Correct the day or the date.",
        )
    return day


def _slashed(found: re.Match[str], today: date) -> date:
    first, second = int(found[2]), int(found[3])
    if first != second and 0 < first <= 12 and 0 < second <= 12:
        raise ToolFailure(
            f"{found[2]}/{found[3]} can be a day of {MONTHS[first - 1].title()} or of "
            f"{MONTHS[second - 1].title()}.",
            "Write the month as a word, or the date as YYYY-MM-DD.",
        )
    month, day = (first, second) if second > 12 or first == second else (second, first)
    return _coming(month, str(day), found[4], today)


def _numbered(day: int, today: date) -> date:
    """`the 20th`: of this month, or of the next one that has it if it is over."""
    month = today.replace(day=1)
    for _ in range(3):
        try:
            if (result := month.replace(day=day)) >= today:
                return result
        except ValueError:
            pass
        month = (month + timedelta(days=32)).replace(day=1)
    raise ToolFailure(f"There is no day {day} in a month.", "Correct the date.")


def _coming(month: int, day: str, year: str | None, today: date) -> date:
    """Without a year, the next time that day comes."""
    if year:
        return _day(int(year), month, int(day))
    for candidate in range(today.year, today.year + 9):
        if month == 2 and int(day) == 29 and candidate % 4:
            continue
        if (found := _day(candidate, month, int(day))) >= today:
            return found
    raise ToolFailure("This date does not exist.", "Correct the date.")


def _day(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError:
        raise ToolFailure(f"{year}-{month:02}-{day:02} does not exist.", "Correct the date.") from None


def _month_number(name: str) -> int:
    return next(number for number, month in enumerate(MONTHS, 1) if month.startswith(name[:3].lower()))


def mark_moments(phrase: Phrase, now: datetime) -> None:
    """`in 2 hours`, `in half an hour`, `2 hours from now`."""
    units = r"(minutes?|mins?|hours?|hrs?|h)"

    def later(number: float, unit: str) -> datetime:
        return now + Length(number, _unit(unit)).exact

    phrase.mark(
        MOMENT,
        r"in\s+(\d+|an?)\s*(?:h|hrs?|hours?)\s*(?:and\s+)?(\d+)\s*(?:m|mins?|minutes?)",
        lambda found: later(amount(found[1]) * 60 + int(found[2]), "minute"),
    )
    phrase.mark(MOMENT, r"in\s+half\s+an\s+hour", lambda _: now + timedelta(minutes=30))
    phrase.mark(MOMENT, rf"in\s+{_AMOUNT}\s*{units}", lambda found: later(amount(found[1]), found[2]))
    phrase.mark(MOMENT, rf"{_AMOUNT}\s*{units}\s+from\s+now", lambda found: later(amount(found[1]), found[2]))


def mark_lengths(phrase: Phrase) -> None:
    """`for 90 minutes`, `for 1h30`, `for half an hour`, `2 hours long`, `30 min`, `for 3 days`."""
    units = "minutes?|mins?|hours?|hrs?"

    def read(found: re.Match[str]) -> Length | None:
        length = Length(amount(found[1]), _unit(found[2]))
        return None if length.unit == "hour" and length.number > 99 else length  # 1500 hrs

    def of_two(found: re.Match[str]) -> Length:
        return Length(int(found[1]) * 60 + int(found[2]), "minute")

    phrase.mark(LENGTH, r"(?:for\s+)?half\s+an\s+hour", lambda _: Length(30, "minute"))
    phrase.mark(
        LENGTH,
        rf"(?:for\s+)?{_AMOUNT}\s+and\s+a\s+half\s+hours?",
        lambda found: Length(amount(found[1]) + 0.5, "hour"),
    )
    phrase.mark(LENGTH, r"for\s+(\d+)\s*h\s*(\d\d)", of_two)
    phrase.mark(
        LENGTH, r"(?:for\s+)?(\d+)\s*(?:h|hrs?|hours?)\s*(?:and\s+)?(\d+)\s*(?:m|mins?|minutes?)", of_two
    )
    phrase.mark(LENGTH, rf"for\s+(?:the\s+next\s+)?{_AMOUNT}\s*({units}|days?|weeks?|months?|years?)", read)
    phrase.mark(LENGTH, r"for\s+(\d+)\s*(h|m)", read)
    phrase.mark(LENGTH, rf"{_AMOUNT}[\s-]*({units})(?:\s+long)?", read)
    phrase.mark(LENGTH, rf"{_AMOUNT}\s*(h|days?|weeks?)\s+long", read)


def _unit(text: str) -> str:
    lower = text.lower()
    if lower.startswith("mo"):
        return "month"
    return {"m": "minute", "h": "hour", "d": "day", "w": "week", "y": "year"}[lower[0]]


def mark_times(phrase: Phrase) -> None:
    """Mark times of day. A number alone is one only after `at`, or in a range beside a day."""
    words = "|".join(NUMBERS)
    phrase.mark(
        TIME, rf"{_AT}?(?:12\s*)?(noon|midday|midnight){_ZONE}", lambda found: _named(found[1], found["zone"])
    )
    phrase.mark(
        TIME,
        rf"{_AT}?(?:a\s+)?(half|quarter)\s+(past|after|to)\s+(\d{{1,2}}|{words})(?:\s*{_HALF})?{_ZONE}",
        _quarter,
    )
    phrase.rewrite(rf"(from\s+|{_AT})?{_CLOCK}{TO}{_CLOCK}{_ZONE}", lambda found: _two_clocks(phrase, found))
    phrase.rewrite(
        rf"(?:from\s+|{_AT})?(\d{{1,2}}){TO}(?={TIME})",
        lambda found: f"{phrase.put(TIME, found[0], _clock(found[1]))} to ",
    )
    phrase.rewrite(
        rf"({TIME}.){TO}(\d{{1,2}})",
        lambda found: f"{found[1]} to {phrase.put(TIME, found[2], _clock(found[2]))}",
    )
    clock = r"(\d{1,2})"
    for pattern in (
        rf"{_AT}?{clock}:(\d{{2}})(?:\s*{_HALF})?",
        rf"{_AT}?{clock}(?:\.(\d{{2}}))?\s*{_HALF}",
        rf"{_AT}{clock}[.h](\d{{2}})()",
        rf"{_AT}{clock}()h()",
        r"(1[3-9]|2[0-3])h(\d{2})?()",
        rf"{_AT}({words}|\d{{1,2}})()(){_AFTER_HOUR}",
        rf"{_AT}?({words})()\s*{_HALF}",
        rf"({words}|\d{{1,2}})()()(?=\s+in\s+the\s+(?:morning|afternoon|evening)\b|\s+at\s+night\b)",
    ):
        phrase.mark(
            TIME, f"{pattern}{_ZONE}", lambda found: _clock(found[1], found[2], found[3], found["zone"])
        )


def _two_clocks(phrase: Phrase, found: re.Match[str]) -> str:
    """A range. Two numbers alone are one only after `from`, or at the end or beside a mark."""
    if re.match(r"(?:at|@)\s*(?:5|10|20|25)\s+(?:to|till)\s+\d{1,2}(?!\d|[:.h])", found[0], re.IGNORECASE):
        raise ToolFailure(f"{found[0]!r} can be a range or a time.", "Write times as 14:50 or 14:00-15:00.")
    if not any(found.groups()[:1] + found.groups()[2:5] + found.groups()[6:9]):
        before, after = found.string[: found.start()].rstrip(), found.string[found.end() :].lstrip()
        beside = not before or not after or re.search(f"{GAP}$", before) or re.match(GAP, after)
        if not beside:
            return found[0]
    marks = [
        phrase.put(TIME, found[0], replace(_clock(*found.groups()[at : at + 3]), zone=found["zone"] or ""))
        for at in (1, 5)
    ]
    return f"{marks[0]} to {marks[1]}"


def _named(word: str, zone: str | None) -> Clock:
    midnight = word.lower() == "midnight"
    return Clock(0 if midnight else 12, 0, "24", zone or "", midnight)


def _quarter(found: re.Match[str]) -> Clock:
    """`half past three`, `quarter to 4`."""
    given = _clock(found[3], None, found[4], found["zone"])
    minutes = 30 if found[1].lower() == "half" else 15
    if found[2].lower() == "to":
        hour = given.hour - 1 if given.half == "24" else (given.hour - 2) % 12 + 1
        half = {"am": "pm", "pm": "am"}.get(given.half, given.half) if given.hour == 12 else given.half
        return replace(given, hour=hour % 24, minute=60 - minutes, half=half)
    return replace(given, minute=minutes)


def _clock(hour: str, minute: str | None = None, half: str | None = None, zone: str | None = None) -> Clock:
    """Raises `ToolFailure` for 25:00 or 13 pm."""
    number, minutes = NUMBERS.get(hour.lower()) or int(hour), int(minute or 0)
    said = (half or "").lower().replace(".", "")
    said = said if said in ("am", "pm") else ""
    end = number == 24 and not minutes and not said
    if (number > 23 and not end) or minutes > 59 or (said and not 1 <= number <= 12):
        raise ToolFailure(f"{hour}:{minutes:02} is not a time.", "Write times as 15:30 or 3:30 pm.")
    if not said and (number > 12 or number == 0 or hour.startswith("0")):
        said = "24"
    return Clock(number % 24, minutes, said, zone or "", midnight=end)


def clock_zone(name: str, at: datetime) -> tzinfo:
    """The zone that a text names beside a time; raises `ToolFailure` if it is not the one of that season."""
    place = _ZONES.get(name.upper()) or _ZONES.get(f"{name.upper()} TIME")
    zone = find_zone(place or name)
    if zone is None:
        raise ToolFailure(f"{name!r} is not a time zone.", "Use create_event with `time_zone`.")
    current = at.replace(tzinfo=zone).tzname() or ""
    if place and name.upper() in _ZONES and len(name) in (3, 4) and current != name.upper():
        raise ToolFailure(
            f"On {at:%-d %B %Y} {place} has {current}, not {name.upper()}.",
            f'Use create_event with time_zone="{place}", or with the offset that is meant.',
        )
    return zone


def mark_parts(phrase: Phrase) -> None:
    """Mark parts of the day."""
    phrase.mark(
        PART,
        r"(?:(?:in|during)\s+the\s+|at\s+(?=night))?(morning|afternoon|evening|night)",
        lambda found: found[1].lower(),
    )
