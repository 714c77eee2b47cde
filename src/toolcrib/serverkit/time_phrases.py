"""Marks what an English text says about time: days, months, times of day, parts of the day, time zones,
durations; and the errors for unclear or impossible dates.

The vocabulary of events in the calendar and of schedules. Each finder replaces all that it understands by
marks; the caller reads how the marks stand together (`DAY to DAY`) and uses each of them once. Recurrences
are in `repetitions`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from typing import Any

from toolcrib.serverkit.context import ToolFailure

DAY, TIME, LENGTH, MOMENT, REPEAT, PART, ALL_DAY, DONE, KEPT = map(chr, range(0xE000, 0xE009))
"""Kinds of marks. `DONE` stands for what was used, `KEPT` for words that belong to the title as they are."""
_FIRST = 0xE100
GAP = r"[\ue000-\ue007][\ue100-\uf8ff]"
"""Any mark but `KEPT`: words around it do not belong together."""
_PRIVATE = re.compile(r"[\ue000-\uf8ff]")

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july",
    "august", "september", "october", "november", "december",
)  # fmt: skip
NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
PARTS = {
    "morning": (time(0), time(11, 59)),
    "afternoon": (time(12), time(18, 59)),
    "evening": (time(16), time(23, 59)),
    "night": (time(18), time(23, 59)),
}
"""Of the day, with the first and last times that each can mean."""
_ZONES_OF = {
    "Europe/Berlin": "CET CEST",
    "Europe/London": "BST",
    "Europe/Lisbon": "WET WEST",
    "Europe/Helsinki": "EET EEST",
    "Europe/Moscow": "MSK",
    "America/New_York": "ET EST EDT EASTERN",
    "America/Chicago": "CT CDT CENTRAL",
    "America/Denver": "MT MST MDT MOUNTAIN",
    "America/Los_Angeles": "PT PST PDT PACIFIC",
    "Asia/Tokyo": "JST",
    "Asia/Seoul": "KST",
    "Asia/Hong_Kong": "HKT",
    "Asia/Singapore": "SGT",
    "Australia/Sydney": "AEST AEDT",
    "Pacific/Auckland": "NZST NZDT",
}
"""CST and IST are left out: each is the name of several zones."""
ZONES = {name: place for place, names in _ZONES_OF.items() for name in names.split()}


def either(*words: str) -> str:
    """The pattern of any of these words, longer ones first."""
    return f"(?:{'|'.join(sorted(words, key=len, reverse=True))})"


FULL_DAY = either(*WEEKDAYS)
DAY_NAME = either(*WEEKDAYS, *(name[:3] for name in WEEKDAYS), "tues", "thur", "thurs")
MONTH_NAME = either(*MONTHS, *(name[:3] for name in MONTHS), "sept")
PART_NAME = either(*PARTS)
NUMBER_NAME = either(*NUMBERS)
DAY_NUMBER = r"\d{1,2}(?:st|nd|rd|th)?"
TO = r"\s*(?:-|–|—|(?<=\s)(?:to|until|till|through|thru)(?=\s))\s*"
_ON = r"(?:on\s+)?"
_FOR = r"(?:for\s+)?"
_THE = r"(?:the\s+)?"
_AT = r"(?:(?:at|@)\s*(?<=[\s@]))"
_YEAR = r"(?:,?\s+(?P<year>\d{4}))?"
_WEEK = r"(?:of\s+|in\s+)?(?P<which>this|next)\s+week"
_WEEKDAY = f"(?P<weekday>{DAY_NAME})"
_SHORT_DAY_FOLLOWS = (
    rf"(?=\s*(?:$|[\d,;)/–—@-]|{GAP}|(?:at|in|on|with|w/|for|from|to|and|or|through|thru|until|till"
    rf"|{PART_NAME}|noon|midnight|midday|all)\b))"
)
_DATES = (
    r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)",
    r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})?",
    rf"(?P<day>{DAY_NUMBER})\s+(?:of\s+)?(?P<month>{MONTH_NAME})\.?{_YEAR}",
    rf"(?P<month>{MONTH_NAME})\.?\s+{_THE}(?P<day>{DAY_NUMBER}){_YEAR}",
    r"(?P<slashed>(?P<month>\d{1,2})/(?P<day>\d{1,2}))(?:/(?P<year>\d{4}))?",
    r"(?<=the )(?P<day>\d{1,2}(?:st|nd|rd|th))(?!\s+(?:and|[^\W\d_]+\s+of)\b)",
)
_SPANS = (
    rf"(?P<month>{MONTH_NAME})\.?\s+(?P<day>{DAY_NUMBER}){TO}(?P<last>{DAY_NUMBER}){_YEAR}",
    rf"{_THE}(?P<day>{DAY_NUMBER}){TO}{_THE}(?P<last>{DAY_NUMBER})"
    rf"\s+(?:of\s+)?(?P<month>{MONTH_NAME})\.?{_YEAR}",
)
_RELATIVE_DAYS = {"today": 0, "tomorrow": 1, "day after tomorrow": 2, "the day after tomorrow": 2}
_WEEKDAYS = (
    rf"{_WEEK},?\s+{_ON}{_WEEKDAY}",
    rf"{_WEEKDAY},?\s+{_WEEK}",
    rf"(?P<which>this|next|coming)\s+{_WEEKDAY}",
    rf"(?P<weekday>{FULL_DAY})",
    rf"{_WEEKDAY}{_SHORT_DAY_FOLLOWS}",
    rf"(?<=on ){_WEEKDAY}",
)
_AMOUNT = rf"(?P<number>\d+(?:[.,]\d+)?|an?|{NUMBER_NAME})"
_UNIT = r"(?P<unit>minutes?|mins?|hours?|hrs?)"
_SUM = r"\s*(?:h|hrs?|hours?)\s*(?:and\s+)?(?P<minutes>\d+)\s*(?:m|mins?|minutes?)"
_MOMENTS = (
    rf"in\s+(?P<number>\d+|an?){_SUM}",
    r"in\s+(?P<half>half\s+an)\s+(?P<unit>hour)",
    rf"in\s+{_AMOUNT}\s*(?P<unit>minutes?|mins?|hours?|hrs?|h)",
    rf"{_AMOUNT}\s*(?P<unit>minutes?|mins?|hours?|hrs?|h)\s+from\s+now",
)
_LENGTHS = (
    rf"{_FOR}(?P<half>half\s+an)\s+(?P<unit>hour)",
    rf"{_FOR}{_AMOUNT}\s+(?P<half>and\s+a\s+half)\s+(?P<unit>hours?)",
    r"for\s+(?P<number>\d+)\s*h\s*(?P<minutes>\d\d)",
    rf"{_FOR}(?P<number>\d+){_SUM}",
    rf"for\s+(?:the\s+next\s+)?{_AMOUNT}\s*"
    r"(?P<unit>minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?)",
    r"for\s+(?P<number>\d+)\s*(?P<unit>h|m)",
    rf"{_AMOUNT}[\s-]*{_UNIT}(?:\s+long)?",
    rf"{_AMOUNT}\s*(?P<unit>h|days?|weeks?)\s+long",
)
_HALF = r"(?P<half>a\.?m\.?|p\.?m\.?|uhr|o['’]?\s?clock)"
_HOUR = r"(?P<hour>\d{1,2})"
_SPOKEN_HOUR = rf"(?P<hour>{NUMBER_NAME}|\d{{1,2}})"
_MINUTE = r"(?P<minute>\d{2})"
_AFTER_HOUR = rf"(?=\s*(?:$|[,;)]|{GAP}|(?:with|w/|in|at|for|on|and|to|from|by|about|re|o'clock)\b))"
_TIMES = (
    rf"{_AT}?{_HOUR}:{_MINUTE}(?:\s*{_HALF})?",
    rf"{_AT}?{_HOUR}(?:\.{_MINUTE})?\s*{_HALF}",
    rf"{_AT}{_HOUR}[.h]{_MINUTE}",
    rf"{_AT}{_HOUR}h",
    rf"(?P<hour>1[3-9]|2[0-3])h{_MINUTE}?",
    rf"{_AT}{_SPOKEN_HOUR}{_AFTER_HOUR}",
    rf"{_AT}?(?P<hour>{NUMBER_NAME})\s*{_HALF}",
    rf"{_SPOKEN_HOUR}(?=\s+in\s+the\s+(?:morning|afternoon|evening)\b|\s+at\s+night\b)",
)
_NAMED_TIME = rf"{_AT}?(?:12\s*)?(?P<name>noon|midday|midnight)"
_FRACTION = (
    rf"{_AT}?(?:a\s+)?(?P<part>half|quarter)\s+(?P<side>past|after|to)\s+{_SPOKEN_HOUR}(?:\s*{_HALF})?"
)
_CLOCK = rf"(\d{{1,2}})(?:[:.h](\d{{2}}))?(?:\s*{_HALF.replace('?P<half>', '')}|(h))?"
_ZONE = (
    rf"(?:\s*\(?(?P<zone>(?:UTC|GMT)(?:\s?[+-]\d{{1,2}}(?::?\d\d)?)?|[+-]\d\d:\d\d"
    rf"|(?-i:[A-Z][A-Za-z]+/[A-Z][A-Za-z_/-]+|ET|PT|CT|MT)"
    rf"|{either(*(name for name in ZONES if 2 < len(name) < 5))}"
    r"|(?:EASTERN|CENTRAL|MOUNTAIN|PACIFIC)(?:\s+TIME|(?!\s+(?-i:[A-Z]))))(?!\w)\)?)?"
)


@dataclass(frozen=True)
class TimeOfDay:
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
        return [choice for choice, half in ((morning, "am"), (evening, "pm")) if self.half in ("", half)]


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
class MarkedWords:
    words: str
    value: Any


@dataclass
class Phrase:
    """A text in which what was understood is replaced by marks."""

    text: str
    found: list[MarkedWords] = field(default_factory=list)

    @classmethod
    def of(cls, text: str) -> Phrase:
        """A text without characters that could be taken for marks."""
        return cls(" ".join(_PRIVATE.sub(" ", text).split()))

    def put(self, kind: str, words: str, value: Any = None) -> str:
        """A mark for something that was found."""
        if len(self.found) > 200:
            raise ToolFailure("The text names too many times.", "Name one event or schedule at a time.")
        self.found.append(MarkedWords(words, value))
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

    def use(self, pattern: str) -> list[MarkedWords] | None:
        """What the marks of the first match stand for; the match counts as used."""
        match = re.search(pattern, self.text, re.IGNORECASE)
        if match is None:
            return None
        self.text = f"{self.text[: match.start()]}{self.put(DONE, match[0])}{self.text[match.end() :]}"
        return [self.found[ord(index) - _FIRST] for index in match.groups() if index]

    def left(self, kind: str) -> list[MarkedWords]:
        """What was found of a kind and not used."""
        return [self.found[ord(index) - _FIRST] for index in re.findall(mark_of(kind), self.text)]

    def restore(self, kind: str) -> None:
        """Put the words of a kind of marks back."""
        self.text = re.sub(mark_of(kind), lambda mark: self.found[ord(mark[1]) - _FIRST].words, self.text)


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
    phrase.rewrite(f"this ({PART_NAME})", lambda found: f"today {found[1]}")

    def two(found: re.Match[str]) -> str:
        """`Nov 23-25` and `5-9 December` become two days with `to` between them."""
        days = [_date({**found.groupdict(), "day": found[name]}, today) for name in ("day", "last")]
        return " to ".join(phrase.put(DAY, found[0], day) for day in days)

    for pattern in _SPANS:
        phrase.rewrite(rf"(?:from\s+)?{pattern}", two)
    for pattern in _DATES:
        phrase.mark(
            DAY,
            rf"{_ON}(?:{_WEEKDAY},?\s+)?{_THE}{pattern}",
            lambda found: _on_weekday(_date(found.groupdict(), today), found["weekday"]),
        )
    phrase.mark(
        DAY, either(*_RELATIVE_DAYS), lambda found: today + timedelta(days=_RELATIVE_DAYS[found[0].lower()])
    )
    phrase.mark(
        DAY,
        rf"in\s+{_AMOUNT}\s+(?P<unit>day|week)s?",
        lambda found: today + timedelta(days=round(_length(found).exact / timedelta(days=1))),
    )
    for pattern in _WEEKDAYS:
        phrase.mark(DAY, f"{_ON}{pattern}", lambda found: _of_week(found.groupdict(), today))


def _of_week(said: dict[str, str | None], today: date) -> date:
    """`Friday` is the coming one, today included; `next Friday` is that of next week."""
    name, which = said["weekday"] or "", (said.get("which") or "").lower()
    number = weekday_number(name)
    if which == "next":
        return today + timedelta(days=7 + number - today.weekday())
    if which == "this" and number < today.weekday():
        raise ToolFailure(f"{name.title()} of this week is over.", f"Say 'next {name}' or a date.")
    return today + timedelta(days=(number - today.weekday()) % 7)


def _on_weekday(day: date, name: str | None) -> date:
    if name and day.weekday() != weekday_number(name):
        raise ToolFailure(
            f"{day:%-d %B %Y} is a {WEEKDAYS[day.weekday()].title()}, not a {name}.",
            "Correct the day or the date.",
        )
    return day


def _date(said: dict[str, str | None], today: date) -> date:
    """A date from its `day`, `month` and `year`. What is missing is that of the next day that fits."""
    day, month = int(re.sub(r"\D", "", said["day"] or "")), said.get("month")
    if month is None:
        return _coming(None, day, today)
    number = int(month) if month.isdecimal() else _month_number(month)
    if said.get("slashed"):
        number, day = _slashed(number, day)
    return _day(int(said["year"]), number, day) if said["year"] else _coming(number, day, today)


def _slashed(first: int, second: int) -> tuple[int, int]:
    """The month and the day of `12/24` or `24/12`."""
    if first != second and 0 < first <= 12 and 0 < second <= 12:
        raise ToolFailure(
            f"{first}/{second} can be a day of {MONTHS[first - 1].title()} or of "
            f"{MONTHS[second - 1].title()}.",
            "Write the month as a word, or the date as YYYY-MM-DD.",
        )
    return (first, second) if second > 12 or first == second else (second, first)


def _coming(month: int | None, day: int, today: date) -> date:
    """The next such day, today included: of this year, or `the 20th` of a month."""
    days = (today + timedelta(days=ahead) for ahead in range(9 * 366))  # 29 February may be eight years away
    found = next((coming for coming in days if coming.day == day and month in (None, coming.month)), None)
    if found is None and month is None:
        raise ToolFailure(f"There is no day {day} in a month.", "Correct the date.")
    return found or _day(today.year, month or 0, day)


def _day(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError:
        raise ToolFailure(f"{year}-{month:02}-{day:02} does not exist.", "Correct the date.") from None


def _month_number(name: str) -> int:
    return next(number for number, month in enumerate(MONTHS, 1) if month.startswith(name[:3].lower()))


def mark_moments(phrase: Phrase, now: datetime) -> None:
    """`in 2 hours`, `in half an hour`, `2 hours from now`."""
    for pattern in _MOMENTS:
        phrase.mark(MOMENT, pattern, lambda found: now + _length(found).exact)


def mark_lengths(phrase: Phrase) -> None:
    """`for 90 minutes`, `for 1h30`, `for half an hour`, `2 hours long`, `30 min`, `for 3 days`."""

    def read(found: re.Match[str]) -> Length | None:
        length = _length(found)
        return None if length.unit == "hour" and length.number > 99 else length  # 1500 hrs

    for pattern in _LENGTHS:
        phrase.mark(LENGTH, pattern, read)


def _length(found: re.Match[str]) -> Length:
    """From its `number` and `unit`, with a `half` more, or from hours and `minutes`."""
    said = found.groupdict()
    number = amount(said["number"]) if said.get("number") else 0
    if said.get("minutes"):
        return Length(number * 60 + int(said["minutes"]), "minute")
    units = {"mo": "month", "m": "minute", "h": "hour", "d": "day", "w": "week", "y": "year"}
    unit = next(unit for start, unit in units.items() if said["unit"].lower().startswith(start))
    return Length(number + (0.5 if said.get("half") else 0), unit)


def mark_times(phrase: Phrase) -> None:
    """Mark times of day. A number alone is one only after `at`, or in a range beside a day."""
    phrase.mark(TIME, f"{_NAMED_TIME}{_ZONE}", _named)
    phrase.mark(TIME, f"{_FRACTION}{_ZONE}", _fraction)
    phrase.rewrite(rf"(from\s+|{_AT})?{_CLOCK}{TO}{_CLOCK}{_ZONE}", lambda found: _two_clocks(phrase, found))
    phrase.rewrite(
        rf"(?:from\s+|{_AT})?(\d{{1,2}}){TO}(?={TIME})",
        lambda found: f"{phrase.put(TIME, found[0], _clock(found[1]))} to ",
    )
    phrase.rewrite(
        rf"({TIME}.){TO}(\d{{1,2}})",
        lambda found: f"{found[1]} to {phrase.put(TIME, found[2], _clock(found[2]))}",
    )
    for pattern in _TIMES:
        phrase.mark(TIME, f"{pattern}{_ZONE}", lambda found: _clock(**found.groupdict()))


def _two_clocks(phrase: Phrase, found: re.Match[str]) -> str:
    """A range. Two numbers alone are one only after `from`, or at the end or beside a mark."""
    if re.match(r"(?:at|@)\s*(?:5|10|20|25)\s+(?:to|till)\s+\d{1,2}(?!\d|[:.h])", found[0], re.IGNORECASE):
        raise ToolFailure(f"{found[0]!r} can be a range or a time.", "Write times as 14:50 or 14:00-15:00.")
    if not any(found.groups()[:1] + found.groups()[2:5] + found.groups()[6:9]):
        before, after = found.string[: found.start()].rstrip(), found.string[found.end() :].lstrip()
        beside = not before or not after or re.search(f"{GAP}$", before) or re.match(GAP, after)
        if not beside:
            return found[0]
    clocks = [_clock(*found.groups()[at : at + 3]) for at in (1, 5)]
    zone = found["zone"] or ""
    return " to ".join(phrase.put(TIME, found[0], replace(clock, zone=zone)) for clock in clocks)


def _named(found: re.Match[str]) -> TimeOfDay:
    midnight = found["name"].lower() == "midnight"
    return TimeOfDay(0 if midnight else 12, 0, "24", found["zone"] or "", midnight)


def _fraction(found: re.Match[str]) -> TimeOfDay:
    """`half past three`, `quarter to 4`."""
    given = _clock(found["hour"], None, found["half"], found["zone"])
    minutes = 30 if found["part"].lower() == "half" else 15
    if found["side"].lower() != "to":
        return replace(given, minute=minutes)
    hour = given.hour - 1 if given.half == "24" else (given.hour - 2) % 12 + 1
    half = {"am": "pm", "pm": "am"}.get(given.half, given.half) if given.hour == 12 else given.half
    return replace(given, hour=hour % 24, minute=60 - minutes, half=half)


def _clock(
    hour: str, minute: str | None = None, half: str | None = None, zone: str | None = None
) -> TimeOfDay:
    """Raises `ToolFailure` for 25:00 or 13 pm."""
    number, minutes = NUMBERS.get(hour.lower()) or int(hour), int(minute or 0)
    said = (half or "").lower().replace(".", "")
    said = said if said in ("am", "pm") else ""
    end = number == 24 and not minutes and not said
    if (number > 23 and not end) or minutes > 59 or (said and not 1 <= number <= 12):
        raise ToolFailure(f"{hour}:{minutes:02} is not a time.", "Write times as 15:30 or 3:30 pm.")
    if not said and (number > 12 or number == 0 or hour.startswith("0")):
        said = "24"
    return TimeOfDay(number % 24, minutes, said, zone or "", midnight=end)


def mark_parts(phrase: Phrase) -> None:
    """Mark parts of the day."""
    phrase.mark(
        PART, rf"(?:(?:in|during)\s+the\s+|at\s+(?=night))?({PART_NAME})", lambda found: found[1].lower()
    )
