"""Turns words such as "every other Tuesday until 20 December" into a recurrence rule."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from toolcrib.bundled.calendar.phrases import DAY_NAME, Phrase, amount, take_date, unit_length, weekday_number
from toolcrib.bundled.calendar.rules import UnreadableRule, read_rule, write_rule
from toolcrib.serverkit.context import ToolFailure

_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_UNITS = {"day": "DAILY", "week": "WEEKLY", "month": "MONTHLY", "year": "YEARLY"}
_SINGLE = {
    "daily": {"FREQ": "DAILY"},
    "weekly": {"FREQ": "WEEKLY"},
    "biweekly": {"FREQ": "WEEKLY", "INTERVAL": "2"},
    "fortnightly": {"FREQ": "WEEKLY", "INTERVAL": "2"},
    "monthly": {"FREQ": "MONTHLY"},
    "quarterly": {"FREQ": "MONTHLY", "INTERVAL": "3"},
    "yearly": {"FREQ": "YEARLY"},
    "annually": {"FREQ": "YEARLY"},
}
_ORDER = {
    "first": 1,
    "1st": 1,
    "second": 2,
    "2nd": 2,
    "third": 3,
    "3rd": 3,
    "fourth": 4,
    "4th": 4,
    "last": -1,
}
_EVERY = r"(?:every|each)\s+"
_LIST = rf"({DAY_NAME}s?(?:(?:\s*,\s*|\s+and\s+|\s*&\s*|\s*,\s*and\s+){DAY_NAME}s?)*)"


@dataclass
class Repetition:
    parts: dict[str, str]
    days: list[int]
    """The weekdays that it names, 0 for Monday."""
    span: timedelta | None = None
    """How long it lasts from its start, if that is said as a time and not as a number."""

    def rule(self, start: date) -> str:
        """The rule of a series with this first day."""
        parts = dict(self.parts)
        if self.span is not None:
            parts["UNTIL"] = (start + self.span - timedelta(days=1)).strftime("%Y%m%d")
        return write_rule(parts)


def read_repetition(text: str, today: date, start: date) -> str:
    """A rule from an RRULE or from words; raises `ToolFailure`."""
    try:
        return write_rule(read_rule(text))
    except UnreadableRule:
        phrase = Phrase(text)
        found = take_repetition(phrase, today)
        if found is None or re.search(r"\w", phrase.text):
            raise ToolFailure(
                f"The recurrence {text[:100]!r} is not understood.",
                "Use a rule such as FREQ=WEEKLY;BYDAY=MO,WE;COUNT=10, or words such as 'every Tuesday'.",
            ) from None
        return found.rule(start)


def take_repetition(phrase: Phrase, today: date) -> Repetition | None:
    """Remove the words of a recurrence from a text."""
    finders = (_weekdays, _ordered, _monthly_day, _named_days, _unit, _single)
    found = next((each for finder in finders if (each := finder(phrase)) is not None), None)
    if found is not None:
        _take_end(phrase, found, today)
    return found


def _weekdays(phrase: Phrase) -> Repetition | None:
    if phrase.take(rf"(?:on\s+)?(?:{_EVERY}(?:weekday|work(?:ing)?\s*day)|weekdays)"):
        return Repetition({"FREQ": "WEEKLY", "BYDAY": "MO,TU,WE,TH,FR"}, list(range(5)))
    if phrase.take(rf"(?:on\s+)?(?:{_EVERY}weekend|weekends)"):
        return Repetition({"FREQ": "WEEKLY", "BYDAY": "SA,SU"}, [5, 6])
    return None


def _ordered(phrase: Phrase) -> Repetition | None:
    """`every first Monday of the month`."""
    order = "|".join(_ORDER)
    found = phrase.take(
        rf"(?:on\s+)?{_EVERY}({order})\s+({DAY_NAME})(?:\s+(?:of|in)\s+(?:the|each|every)\s+month)?"
    )
    if not found:
        found = phrase.take(
            rf"(?:monthly|every\s+month)\s+on\s+the\s+({order})\s+({DAY_NAME})(?:\s+of\s+the\s+month)?"
        )
    if not found:
        return None
    number, day = _ORDER[found[1].lower()], weekday_number(found[2])
    return Repetition({"FREQ": "MONTHLY", "BYDAY": f"{number}{_DAYS[day]}"}, [day])


def _monthly_day(phrase: Phrase) -> Repetition | None:
    """`every month on the 15th`, `on the last day of every month`."""
    if phrase.take(r"(?:on\s+)?(?:the\s+)?last\s+day\s+of\s+(?:the|each|every)\s+month"):
        return Repetition({"FREQ": "MONTHLY", "BYMONTHDAY": "-1"}, [])
    found = phrase.take(
        r"(?:monthly|(?:every|each)\s+month)\s+on\s+the\s+(\d{1,2})(?:st|nd|rd|th)?"
    ) or phrase.take(r"(?:on\s+)?the\s+(\d{1,2})(?:st|nd|rd|th)?\s+of\s+(?:each|every)\s+month")
    return Repetition({"FREQ": "MONTHLY", "BYMONTHDAY": str(int(found[1]))}, []) if found else None


def _named_days(phrase: Phrase) -> Repetition | None:
    """`every Monday and Wednesday`, `every other Friday`, `every 2 weeks on Friday`, `weekly on Tue`."""
    found = phrase.take(rf"(?:on\s+)?{_EVERY}(other\s+|second\s+)?{_LIST}")
    if found:
        return _on_days(found[2], 2 if found[1] else 1)
    found = phrase.take(rf"{_EVERY}(?:(other|\d+)\s+)?weeks?\s+on\s+{_LIST}")
    if found:
        return _on_days(found[2], 2 if (found[1] or "").lower() == "other" else int(found[1] or 1))
    found = phrase.take(rf"(weekly|biweekly|fortnightly)\s+on\s+{_LIST}")
    if found:
        return _on_days(found[2], 1 if found[1].lower() == "weekly" else 2)
    return None


def _on_days(names: str, interval: int) -> Repetition:
    days = sorted({weekday_number(name) for name in re.findall(DAY_NAME, names, re.IGNORECASE)})
    parts = {"FREQ": "WEEKLY", "BYDAY": ",".join(_DAYS[day] for day in days)}
    return Repetition({**parts, **({"INTERVAL": str(interval)} if interval > 1 else {})}, days)


def _unit(phrase: Phrase) -> Repetition | None:
    found = phrase.take(rf"{_EVERY}(?:(other|second|\d+)\s+)?(day|week|month|year)s?")
    if not found:
        return None
    given = (found[1] or "1").lower()
    interval = 2 if given in ("other", "second") else int(given)
    parts = {"FREQ": _UNITS[found[2].lower()]}
    return Repetition({**parts, **({"INTERVAL": str(interval)} if interval > 1 else {})}, [])


def _single(phrase: Phrase) -> Repetition | None:
    found = phrase.take(f"({'|'.join(_SINGLE)})")
    return Repetition(dict(_SINGLE[found[1].lower()]), []) if found else None


def _take_end(phrase: Phrase, found: Repetition, today: date) -> None:
    counted = phrase.take(r"(?:for\s+)?(\d+)\s+(?:times|occurrences)")
    if counted:
        found.parts["COUNT"] = counted[1]
        return
    lasting = phrase.take(r"for\s+(\d+|an?|one|two|three|four|five|six|seven)\s+(week|month|year)s?")
    if lasting:
        number, unit = amount(lasting[1]), lasting[2].lower()
        found.span = (
            unit_length(number, "w")
            if unit == "week"
            else timedelta(days=round(number * (30.44 if unit == "month" else 365.25)))
        )
        return
    limit = re.search(
        r"(?<!\w)(?:until|till|through|ending)\s+(?!\d{1,2}(?::|\s*[ap]m))(.+)$", phrase.text, re.IGNORECASE
    )
    if not limit:
        return
    rest = Phrase(limit[1])
    last = take_date(rest, today)
    if last is not None:
        found.parts["UNTIL"] = last.strftime("%Y%m%d")
        phrase.text = f"{phrase.text[: limit.start()]} {rest.text}"
