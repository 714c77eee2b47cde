"""Finds dates, times and durations in English text.

Each finder removes what it understood from the text, so that the rest is the title, place and people.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, time, timedelta

from toolcrib.serverkit.context import ToolFailure

GAP = "\x00"
"""Stands for what was removed: words around it do not belong together."""
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
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
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
DAY_NAME = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_AMOUNT = r"(\d+(?:[.,]\d+)?|an?|one|two|three|four|five|six|seven)"
_NTH = r"(\d{1,2})(?:st|nd|rd|th)?"
_CLOCK = r"(\d{1,2})(?:[:.h](\d{2})|h)?\s*(a\.?m\.?|p\.?m\.?)?"
_TO = r"\s*(?:-|–|—|to|until|till)\s*"


@dataclass
class Phrase:
    """A text from which things are taken out."""

    text: str
    taken: list[str] = field(default_factory=list)

    def take(self, pattern: str) -> re.Match[str] | None:
        """Remove the first match."""
        found = re.search(rf"(?<![\w@]){pattern}(?!\w)", self.text, re.IGNORECASE)
        if found is not None:
            self.taken.append(found[0])
            self.text = f"{self.text[: found.start()]}{GAP}{self.text[found.end() :]}"
        return found

    def mentions(self, word: str) -> bool:
        """Whether a word was taken out."""
        return word in (taken.lower() for taken in self.taken)


def weekday_number(name: str) -> int:
    """0 for Monday."""
    return next(number for number, day in enumerate(_WEEKDAYS) if day.startswith(name[:3].lower()))


def amount(text: str) -> float:
    """`90`, `1.5`, `an`, `two`."""
    return float(_NUMBERS.get(text.lower(), 0)) or float(text.replace(",", "."))


def take_date(phrase: Phrase, today: date) -> date | None:
    """The day that a text names; raises `ToolFailure` if it is not clear which."""
    found = _take_one_date(phrase, today)
    if found is not None:
        rest = Phrase(phrase.text)
        if _take_one_date(rest, today) is not None:
            raise ToolFailure(
                "The text names more than one day.", "Say it with one, or use create_event with exact dates."
            )
    return found


def _take_one_date(phrase: Phrase, today: date) -> date | None:
    finders = (_exact, _written, _slashed, _relative, _weekday, _numbered)
    return next((day for finder in finders if (day := finder(phrase, today)) is not None), None)


def _exact(phrase: Phrase, today: date) -> date | None:
    found = phrase.take(r"(?:on\s+)?(\d{4})-(\d\d)-(\d\d)")
    if found:
        return _day(int(found[1]), int(found[2]), int(found[3]))
    found = phrase.take(r"(?:on\s+(?:the\s+)?)?(\d{1,2})\.(\d{1,2})\.(\d{4})?")
    if found:
        return _coming(int(found[2]), int(found[1]), found[3], today)
    return None


def _written(phrase: Phrase, today: date) -> date | None:
    """`20 November`, `November 20th, 2026`; a weekday beside it must agree."""
    lead = rf"(?:on\s+)?(?:({DAY_NAME}),?\s+)?(?:the\s+)?"
    found = phrase.take(rf"{lead}{_NTH}\s+(?:of\s+)?({_MONTH})\.?(?:,?\s+(\d{{4}}))?")
    if found:
        named, day, month, year = found[1], found[2], found[3], found[4]
    else:
        found = phrase.take(rf"{lead}({_MONTH})\.?\s+{_NTH}(?:,?\s+(\d{{4}}))?")
        if not found:
            return None
        named, month, day, year = found[1], found[2], found[3], found[4]
    result = _coming(_month_number(month), int(day), year, today)
    if named and result.weekday() != weekday_number(named):
        raise ToolFailure(
            f"{result:%-d %B %Y} is a {_WEEKDAYS[result.weekday()].title()}, not a {named}.",
            "Correct the day or the date.",
        )
    return result


def _slashed(phrase: Phrase, today: date) -> date | None:
    found = phrase.take(r"(?:on\s+)?(\d{1,2})/(\d{1,2})(?:/(\d{4}))?")
    if not found:
        return None
    first, second = int(found[1]), int(found[2])
    if first != second and first <= 12 and second <= 12:
        raise ToolFailure(
            f"{found[1]}/{found[2]} can be a day of {_MONTHS[first - 1].title()} or of "
            f"{_MONTHS[second - 1].title()}.",
            "Write the month as a word, or the date as YYYY-MM-DD.",
        )
    month, day = (first, second) if second > 12 or first == second else (second, first)
    return _coming(month, day, found[3], today)


def _relative(phrase: Phrase, today: date) -> date | None:
    if phrase.take(r"(?:the\s+)?day\s+after\s+tomorrow"):
        return today + timedelta(days=2)
    for word, days in (("today", 0), ("tonight", 0), ("tomorrow", 1)):
        if phrase.take(word):
            return today + timedelta(days=days)
    found = phrase.take(rf"in\s+{_AMOUNT}\s+(day|week)s?")
    if found:
        return today + timedelta(days=round(amount(found[1]) * (7 if found[2].lower() == "week" else 1)))
    return None


def _weekday(phrase: Phrase, today: date) -> date | None:
    """`Friday` is the coming one, today included; `next Friday` is that of next week."""
    found = phrase.take(rf"(?:on\s+)?(?:(this|next|coming)\s+)?({DAY_NAME})")
    if not found:
        return None
    number, which = weekday_number(found[2]), (found[1] or "").lower()
    monday = today - timedelta(days=today.weekday())
    if which == "next":
        return monday + timedelta(days=7 + number)
    if which == "this" and number < today.weekday():
        raise ToolFailure(f"{found[2].title()} of this week is over.", f"Say 'next {found[2]}' or a date.")
    return today + timedelta(days=(number - today.weekday()) % 7)


def _numbered(phrase: Phrase, today: date) -> date | None:
    """`the 20th`: of this month, or of the next one that has it if it is over."""
    found = phrase.take(r"(?:on\s+)?the\s+(\d{1,2})(?:st|nd|rd|th)")
    if not found:
        return None
    day, month = int(found[1]), today.replace(day=1)
    for _ in range(3):
        try:
            if (result := month.replace(day=day)) >= today:
                return result
        except ValueError:
            pass
        month = (month + timedelta(days=32)).replace(day=1)
    raise ToolFailure(f"There is no day {day} in a month.", "Correct the date.")


def _coming(month: int, day: int, year: str | None, today: date) -> date:
    """Without a year, the next time that day comes."""
    if year:
        return _day(int(year), month, day)
    for candidate in range(today.year, today.year + 9):
        if month == 2 and day == 29 and candidate % 4:
            continue
        if (found := _day(candidate, month, day)) >= today:
            return found
    raise ToolFailure("This date does not exist.", "Correct the date.")


def _day(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError:
        raise ToolFailure(f"{year}-{month:02}-{day:02} does not exist.", "Correct the date.") from None


def _month_number(name: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, 1) if month.startswith(name[:3].lower()))


def take_times(phrase: Phrase) -> tuple[time, time | None] | None:
    """The time that a text names, and its end if it names one; raises `ToolFailure` if there are several."""
    found = _take_range(phrase) or _take_time(phrase)
    if found is not None:
        rest = Phrase(phrase.text)
        if _take_range(rest) or _take_time(rest):
            raise ToolFailure("The text names more than one time.", "Say it with one, or use create_event.")
    return found


def _take_range(phrase: Phrase) -> tuple[time, time | None] | None:
    found = phrase.take(rf"(?:at\s+|from\s+)?(?:{_CLOCK}|(noon|midnight)){_TO}(?:{_CLOCK}|(noon|midnight))")
    if not found:
        return None
    end = _named(found[8]) or _clock(found[5], found[6], found[7], "")
    start = _named(found[4]) or _clock(found[1], found[2], found[3], found[7] or "", before=end)
    return start, end


def _take_time(phrase: Phrase) -> tuple[time, time | None] | None:
    found = phrase.take(r"(?:at\s+)?(noon|midday|midnight)")
    if found:
        return _named(found[1]) or time(0), None
    for pattern in (
        r"(?:at\s+)?(\d{1,2})(?:[:.](\d{2}))?\s*(a\.?m\.?|p\.?m\.?)",
        r"(?:at\s+)?(\d{1,2}):(\d{2})()",
        r"(?:at\s+)?(\d{1,2})h(\d{2})?()",
        r"(?:at\s+)(\d{1,2})()()(?!\s*(?:/|st|nd|rd|th))",
    ):
        found = phrase.take(pattern)
        if found:
            evening = not found[3] and len(found[1]) == 1 and phrase.mentions("tonight")
            return _clock(found[1], found[2], found[3], "pm" if evening else ""), None
    return None


def _named(word: str | None) -> time | None:
    return {"noon": time(12), "midday": time(12), "midnight": time(0)}.get((word or "").lower())


def _clock(hour: str, minute: str | None, half: str | None, assumed: str, before: time | None = None) -> time:
    """An hour without am or pm: 1 to 6 is in the afternoon, unless it is written as 15:00 or 03:00."""
    number, minutes = int(hour), int(minute or 0)
    half = (half or assumed).lower().replace(".", "")
    if number > 24 or minutes > 59 or (half and not 1 <= number <= 12):
        raise ToolFailure(f"{hour}:{minutes:02} is not a time.", "Write times as 15:30 or 3:30 pm.")
    if half:
        number = number % 12 + (12 if half == "pm" else 0)
        if before is not None and assumed and time(number, minutes) > before:
            number -= 12  # 11-1pm
    elif 1 <= number <= 6 and len(hour) == 1 and (not minute or _ends_after_noon(number, before)):
        number += 12
    return time(number % 24, minutes)


def _ends_after_noon(number: int, before: time | None) -> bool:
    """1:30-3pm without the first pm."""
    return before is not None and time(number + 12) < before


def take_duration(phrase: Phrase) -> timedelta | None:
    """`for 90 minutes`, `for 1h30`, `for half an hour`, `2 hours long`."""
    if phrase.take(r"for\s+half\s+an\s+hour"):
        return timedelta(minutes=30)
    found = phrase.take(rf"for\s+{_AMOUNT}\s+and\s+a\s+half\s+hours?")
    if found:
        return timedelta(hours=amount(found[1]) + 0.5)
    found = phrase.take(r"(?:for\s+)?(\d+)\s*h(?:ours?)?\s*(\d+)\s*(?:m|min|mins|minutes)?")
    if found:
        return timedelta(hours=int(found[1]), minutes=int(found[2]))
    units = r"(minutes?|mins?|hours?|hrs?|h|days?|weeks?)"
    found = phrase.take(rf"for\s+{_AMOUNT}\s*{units}") or phrase.take(rf"{_AMOUNT}\s*{units}\s+long")
    return unit_length(amount(found[1]), found[2]) if found else None


def unit_length(number: float, unit: str) -> timedelta:
    """A number of minutes, hours, days or weeks."""
    name = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}[unit[0].lower()]
    return timedelta(**{name: number})
