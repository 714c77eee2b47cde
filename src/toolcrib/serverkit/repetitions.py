"""Marks the recurrences that an English text names, such as "every other Tuesday" or "monthly on the 3rd":
the words for frequencies, ordinals and lists of days."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta

from toolcrib.serverkit.time_phrases import (
    DAY_NAME,
    DAY_NUMBER,
    FULL_DAY,
    MONTH_NAME,
    NUMBER_NAME,
    PART_NAME,
    REPEAT,
    TO,
    WEEKDAYS,
    Length,
    Phrase,
    amount,
    either,
    weekday_number,
)

RULE_DAYS = tuple(name[:2].upper() for name in WEEKDAYS)
"""As recurrence rules (RFC 5545) name them."""
FREQUENCIES = {"day": "DAILY", "week": "WEEKLY", "month": "MONTHLY", "year": "YEARLY"}
_ADVERBS = {
    "daily": ("DAILY", 1),
    "weekly": ("WEEKLY", 1),
    "biweekly": ("WEEKLY", 2),
    "bi-weekly": ("WEEKLY", 2),
    "fortnightly": ("WEEKLY", 2),
    "monthly": ("MONTHLY", 1),
    "quarterly": ("MONTHLY", 3),
    "yearly": ("YEARLY", 1),
    "annually": ("YEARLY", 1),
}
ORDINALS = {
    "first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3,
    "fourth": 4, "4th": 4, "fifth": 5, "5th": 5, "last": -1,
}  # fmt: skip
WORKDAYS = (0, 1, 2, 3, 4)
WEEKEND = (5, 6)


@dataclass(frozen=True)
class Repetition:
    parts: dict[str, str]
    """Of the recurrence rule, FREQ first."""
    days: tuple[int, ...] = ()
    """The weekdays that it names, 0 for Monday."""
    other: Repetition | None = None
    """What the same words can mean as well."""
    adjective: str = ""
    """The word that can belong to the title as well: `Quarterly review next Tuesday`."""
    length: Length | None = None
    """How long it lasts from its start."""

    def rule(self, start: date) -> str:
        """The rule of a series with this first day."""
        parts = dict(self.parts)
        if self.length is not None:
            parts["UNTIL"] = (_after(start, self.length) - timedelta(days=1)).strftime("%Y%m%d")
        return ";".join(f"{name}={value}" for name, value in parts.items())

    def having(self, *, length: Length | None = None, **parts: str) -> Repetition:
        """With other parts of the rule, or for so long from its start."""
        other = self.other.having(length=length, **parts) if self.other else None
        return replace(
            self, parts={**self.parts, **parts}, length=length or self.length, other=other, adjective=""
        )


def _after(start: date, length: Length) -> date:
    """The same day some weeks, months or years later; the last of the month if it has no such day."""
    number = round(length.number)
    if length.unit in ("day", "week"):
        return start + timedelta(days=number * (7 if length.unit == "week" else 1))
    months = start.month - 1 + number * (12 if length.unit == "year" else 1)
    first = date(start.year + months // 12, months % 12 + 1, 1)
    last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    return min(first + timedelta(days=start.day - 1), last)


def every(frequency: str, interval: int = 1) -> Repetition:
    """Without days: `every 3 weeks`."""
    return Repetition({"FREQ": frequency, **({"INTERVAL": str(interval)} if interval > 1 else {})})


def on_days(days: Iterable[int], interval: int = 1) -> Repetition:
    """On these days of every so many weeks, 0 for Monday."""
    chosen = tuple(sorted(set(days)))
    weekly = every("WEEKLY", interval).parts
    return Repetition(
        {"FREQ": "WEEKLY", "BYDAY": ",".join(RULE_DAYS[day] for day in chosen), **weekly}, chosen
    )


def _listed(found: re.Match[str]) -> list[int]:
    """The weekdays of `Mon, Wed and Fri` or `Monday to Friday`."""
    listed: list[int] = []
    for between, name in re.findall(f"(.*?)({DAY_NAME})s?", found["days"], re.IGNORECASE):
        number = weekday_number(name)
        if between and not re.fullmatch(_AND, between, re.IGNORECASE):
            listed += [(listed[-1] + step) % 7 for step in range(1, (number - listed[-1]) % 7)]
        listed.append(number)
    return listed


def _interval(found: re.Match[str]) -> int:
    said = found.groupdict()
    if said.get("adverb"):
        return _ADVERBS[said["adverb"].lower()][1]
    given = (said.get("interval") or "1").lower()
    return 2 if given in ("other", "second") else round(amount(given))


def _on_listed_days(found: re.Match[str]) -> Repetition:
    return on_days(_listed(found), _interval(found))


def _except_days(found: re.Match[str]) -> Repetition | None:
    left_out = _listed(found) if found["days"] else WEEKEND
    kept = [day for day in (WORKDAYS if found["workdays"] else range(7)) if day not in left_out]
    return on_days(kept) if kept else None


def _on_day_of_month(found: re.Match[str]) -> Repetition:
    number = re.sub(r"\D", "", found["day"])
    return Repetition({"FREQ": "MONTHLY", "BYMONTHDAY": str(int(number)) if number else "-1"})


def _on_weekday_of_month(found: re.Match[str]) -> Repetition:
    number, day = ORDINALS[found["order"].lower()], weekday_number(found["weekday"])
    return Repetition({"FREQ": "MONTHLY", "BYDAY": f"{number}{RULE_DAYS[day]}"}, (day,))


def _on_every_such_weekday(found: re.Match[str]) -> Repetition:
    """`every second Tuesday` can be that of each month, or every other one."""
    monthly, number = _on_weekday_of_month(found), ORDINALS[found["order"].lower()]
    return monthly if number < 2 else replace(monthly, other=on_days(monthly.days, number))


def _adverb(found: re.Match[str]) -> Repetition:
    return every(*_ADVERBS[found["adverb"].lower()])


_ON = r"(?:on\s+)?"
_EVERY = r"(?:every|each)\s+"
_AND = r"(?:\s*,\s*and\s+|\s*,\s*|\s+and\s+|\s*&\s*|\s*/\s*)"
_DAYS = rf"(?P<days>{DAY_NAME}s?(?:(?:{_AND}|{TO}){DAY_NAME}s?)*)"
_PLURAL = f"{FULL_DAY}s"
_ORDERED = rf"(?P<order>{either(*ORDINALS)})\s+(?P<weekday>{DAY_NAME})"
_MONTHLY = rf"(?:(?<!-)monthly|{_EVERY}month),?\s+on"
_COUNT = rf"(?P<interval>other|second|\d+|{NUMBER_NAME})"
_ADVERB = f"(?<!-)(?P<adverb>{either(*_ADVERBS)})"
_NO_NOUN = (
    "at|on|from|for|until|till|through|starting|beginning|in|every|each|today|tomorrow|tonight|next|this|noon"
)
_OF_EVERY_MONTH = r"\s+(?:of|in)\s+(?:each|every)\s+month"
_DAY = rf"(?P<day>last\s+day|{DAY_NUMBER})"
_PATTERNS: tuple[tuple[str, Callable[[re.Match[str]], Repetition | None]], ...] = (
    (
        rf"(?:(?P<workdays>{_EVERY}weekday|weekdays)|{_EVERY}day|(?<!-)daily)"
        rf"\s*,?\s+except\s+(?:on\s+|for\s+)?(?:weekends|{_DAYS})",
        _except_days,
    ),
    (rf"{_ON}(?:{_EVERY}(?:weekday|work(?:ing)?\s*day)|weekdays)", lambda _: on_days(WORKDAYS)),
    (rf"{_ON}(?:{_EVERY}weekend|weekends)", lambda _: on_days(WEEKEND)),
    (rf"{_ON}(?:the\s+)?{_ORDERED}{_OF_EVERY_MONTH}", _on_weekday_of_month),
    (rf"{_ON}{_EVERY}{_ORDERED}\s+(?:of|in)\s+(?:the|a|each|every)\s+month", _on_weekday_of_month),
    (rf"{_MONTHLY}\s+the\s+{_ORDERED}(?:\s+of\s+the\s+month)?", _on_weekday_of_month),
    (rf"{_ON}{_EVERY}{_ORDERED}", _on_every_such_weekday),
    (rf"{_ON}(?:the\s+)?{_DAY}\s+of\s+(?:each|every)\s+month", _on_day_of_month),
    (rf"{_MONTHLY}\s+(?:the\s+|day\s+)?{_DAY}(?!\s+(?:of\s+)?{MONTH_NAME}\b)", _on_day_of_month),
    (rf"{_ON}{_EVERY}(?:(?P<interval>other)\s+)?{_DAYS}", _on_listed_days),
    (rf"{_EVERY}(?:{_COUNT}\s+)?weeks?\s+on\s+{_DAYS}", _on_listed_days),
    (rf"(?<!-)(?P<adverb>weekly|bi-?weekly|fortnightly)\s+on\s+{_DAYS}", _on_listed_days),
    (rf"{_ON}(?:all\s+)?(?P<days>{_PLURAL}(?:{_AND}{_PLURAL})*)", _on_listed_days),
    (
        rf"{_EVERY}(?:{_COUNT}\s+)?(?P<unit>{either(*FREQUENCIES)})s?",
        lambda found: every(FREQUENCIES[found["unit"].lower()], _interval(found)),
    ),
    (rf"(?:every|each)(?=\s+{PART_NAME}\b)", lambda _: every("DAILY")),
    (
        rf"{_ADVERB}(?=\s+[^\W\d_])(?!\s+(?:{_NO_NOUN}|{DAY_NAME})\b)",
        lambda found: replace(_adverb(found), adjective=found["adverb"]),
    ),
    (_ADVERB, _adverb),
)
"""From the longest phrases to the shortest: what one has marked, the next ones do not see."""


def mark_repetitions(phrase: Phrase) -> None:
    """Mark the words of recurrences, but not the days on which they start and end."""
    phrase.rewrite(
        rf"({DAY_NAME})\s+({PART_NAME})s", lambda found: f"{WEEKDAYS[weekday_number(found[1])]}s {found[2]}"
    )
    for pattern, read in _PATTERNS:
        phrase.mark(REPEAT, pattern, read)
