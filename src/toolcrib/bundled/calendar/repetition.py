"""Turns words such as "every other Tuesday until 20 December" into a recurrence rule."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, timedelta

from toolcrib.bundled.calendar.phrases import (
    DAY,
    DAY_NAME,
    DONE,
    LENGTH,
    NUMBERS,
    REPEAT,
    TO,
    WEEKDAYS,
    Found,
    Length,
    Phrase,
    amount,
    mark_days,
    mark_lengths,
    mark_of,
    weekday_number,
)
from toolcrib.bundled.calendar.rules import UnreadableRule, read_rule, write_rule
from toolcrib.serverkit.context import ToolFailure

_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_UNITS = {"day": "DAILY", "week": "WEEKLY", "month": "MONTHLY", "year": "YEARLY"}
_LONGER = ("day", "week", "month", "year")
_SINGLE = {
    "daily": {"FREQ": "DAILY"},
    "weekly": {"FREQ": "WEEKLY"},
    "biweekly": {"FREQ": "WEEKLY", "INTERVAL": "2"},
    "bi-weekly": {"FREQ": "WEEKLY", "INTERVAL": "2"},
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
_NTH = f"({'|'.join(_ORDER)})"
_EVERY = r"(?:every|each)\s+"
_PLURAL = "(?:mon|tues|wednes|thurs|fri|satur|sun)days"
_AND = r"(?:\s*,\s*and\s+|\s*,\s*|\s+and\s+|\s*&\s*|\s*/\s*)"
_LIST = rf"({DAY_NAME}s?(?:(?:{_AND}|{TO}){DAY_NAME}s?)*)"
_OF_MONTH = r"\s+(?:of|in)\s+(?:each|every)\s+month"
_NO_NOUN = (
    "at|on|from|for|until|till|through|starting|beginning|in|every|each|today|tomorrow|tonight|next|this|noon"
)
_WORKDAYS = [0, 1, 2, 3, 4]
_COUNT = rf"other|second|\d+|{'|'.join(NUMBERS)}"


@dataclass(frozen=True)
class Repetition:
    parts: dict[str, str]
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
        return write_rule(parts)

    def having(self, name: str, value: str) -> Repetition:
        """With another part of the rule."""
        other = self.other.having(name, value) if self.other else None
        return replace(self, parts={**self.parts, name: value}, other=other, adjective="")

    def lasting(self, length: Length) -> Repetition:
        """Raises `ToolFailure` if it can also be how long each event is (`every year for 3 days`)."""
        unit = next(unit for unit, name in _UNITS.items() if name == self.parts["FREQ"])
        if length.unit not in _LONGER or _LONGER.index(length.unit) < _LONGER.index(unit):
            raise ToolFailure(
                f"'for {length.number:g} {length.unit}s' can be the length of each event or of the series.",
                "Use create_event with `end` for each event, or COUNT or UNTIL in `recurrence`.",
            )
        other = self.other.lasting(length) if self.other else None
        return replace(self, length=length, other=other, adjective="")


def read_repetition(text: str, today: date, start: date) -> str:
    """A rule from an RRULE or from words; raises `ToolFailure`."""
    try:
        return write_rule(read_rule(text))
    except UnreadableRule:
        phrase = Phrase.of(text)
        mark_repetitions(phrase)
        mark_days(phrase, today)
        mark_lengths(phrase)
        found, first = take_repetition(phrase)
        if found is None or first is not None or re.search(r"\w|[\ue000-\ue006]", phrase.text):
            raise ToolFailure(
                f"The recurrence {text[:100]!r} is not understood.",
                "Use a rule such as FREQ=WEEKLY;BYDAY=MO,WE;COUNT=10, or words such as 'every Tuesday'.",
            ) from None
        if found.other is not None:
            rules = " or ".join(f'recurrence="{each.rule(start)}"' for each in (found, found.other))
            raise ToolFailure(
                f"The recurrence {text[:100]!r} can mean two things.", f"Use {rules}."
            ) from None
        return found.rule(start)


def mark_repetitions(phrase: Phrase) -> None:
    """Mark the words of recurrences; days beside them are left to `take_repetition`."""

    def mark(pattern: str, reading: Repetition) -> None:
        phrase.mark(REPEAT, pattern, lambda _: reading)

    phrase.rewrite(
        rf"({DAY_NAME})\s+(morning|afternoon|evening|night)s",
        lambda found: f"{WEEKDAYS[weekday_number(found[1])]}s {found[2]}",
    )

    phrase.mark(
        REPEAT, rf"(?:{_EVERY}day|(?<!-)daily)\s*,?\s+except\s+(?:on\s+|for\s+)?(weekends|{_LIST})", _except
    )
    phrase.mark(
        REPEAT, rf"(?:{_EVERY}weekday|weekdays)\s*,?\s+except\s+(?:on\s+|for\s+)?({_LIST})", _except_workdays
    )
    mark(rf"(?:on\s+)?(?:{_EVERY}(?:weekday|work(?:ing)?\s*day)|weekdays)", _on_days(_WORKDAYS))
    mark(rf"(?:on\s+)?(?:{_EVERY}weekend|weekends)", _on_days([5, 6]))
    _mark_ordered(phrase)
    mark(
        r"(?:on\s+)?(?:the\s+)?last\s+day\s+of\s+(?:each|every)\s+month",
        Repetition({"FREQ": "MONTHLY", "BYMONTHDAY": "-1"}),
    )
    day = r"(\d{1,2})(?:st|nd|rd|th)?"
    for pattern in (
        rf"(?:(?<!-)monthly|{_EVERY}month)\s+on\s+the\s+{day}",
        rf"(?:on\s+)?(?:the\s+)?{day}\s+of\s+(?:each|every)\s+month",
    ):
        phrase.mark(
            REPEAT, pattern, lambda found: Repetition({"FREQ": "MONTHLY", "BYMONTHDAY": str(int(found[1]))})
        )
    phrase.mark(
        REPEAT,
        rf"(?:on\s+)?{_EVERY}(other\s+)?{_LIST}",
        lambda found: _on_days(_listed(found[2]), 2 if found[1] else 1),
    )
    phrase.mark(
        REPEAT,
        rf"{_EVERY}(?:({_COUNT})\s+)?weeks?\s+on\s+{_LIST}",
        lambda found: _on_days(_listed(found[2]), _interval(found[1])),
    )
    phrase.mark(
        REPEAT,
        rf"(?<!-)(weekly|bi-?weekly|fortnightly)\s+on\s+{_LIST}",
        lambda found: _on_days(_listed(found[2]), 1 if found[1].lower() == "weekly" else 2),
    )
    phrase.mark(
        REPEAT,
        rf"(?:on\s+)?(?:all\s+)?({_PLURAL}(?:{_AND}{_PLURAL})*)",
        lambda found: _on_days(_listed(found[1])),
    )
    phrase.mark(REPEAT, rf"{_EVERY}(?:({_COUNT})\s+)?(day|week|month|year)s?", _unit)
    mark(r"(?:every|each)(?=\s+(?:morning|afternoon|evening|night)\b)", Repetition({"FREQ": "DAILY"}))
    single = f"(?<!-)({'|'.join(_SINGLE)})"
    adjective = rf"{single}(?=\s+[^\W\d_])(?!\s+(?:{_NO_NOUN}|{DAY_NAME})\b)"
    phrase.mark(
        REPEAT, adjective, lambda found: Repetition(dict(_SINGLE[found[1].lower()]), adjective=found[1])
    )
    phrase.mark(REPEAT, single, lambda found: Repetition(dict(_SINGLE[found[1].lower()])))


def _mark_ordered(phrase: Phrase) -> None:
    """`every first Monday of the month`. `every second Tuesday` can also be every other one."""

    def monthly(found: re.Match[str]) -> Repetition:
        number, day = _ORDER[found[1].lower()], weekday_number(found[2])
        return Repetition({"FREQ": "MONTHLY", "BYDAY": f"{number}{_DAYS[day]}"}, (day,))

    def unclear(found: re.Match[str]) -> Repetition:
        reading, number = monthly(found), _ORDER[found[1].lower()]
        return reading if number < 2 else replace(reading, other=_on_days(reading.days, number))

    phrase.mark(REPEAT, rf"(?:on\s+)?(?:the\s+)?{_NTH}\s+({DAY_NAME}){_OF_MONTH}", monthly)
    phrase.mark(
        REPEAT,
        rf"(?:on\s+)?{_EVERY}{_NTH}\s+({DAY_NAME})\s+(?:of|in)\s+(?:the|a|each|every)\s+month",
        monthly,
    )
    phrase.mark(
        REPEAT,
        rf"(?:(?<!-)monthly|{_EVERY}month)\s+on\s+the\s+{_NTH}\s+({DAY_NAME})(?:\s+of\s+the\s+month)?",
        monthly,
    )
    phrase.mark(REPEAT, rf"(?:on\s+)?{_EVERY}{_NTH}\s+({DAY_NAME})", unclear)


def _listed(text: str) -> list[int]:
    """The weekdays of `Mon, Wed and Fri` or `Monday to Friday`."""
    names = [weekday_number(name) for name in re.findall(DAY_NAME, text, re.IGNORECASE)]
    found: list[int] = []
    for number, between in zip(
        names, ["", *re.split(f"{DAY_NAME}s?", text, flags=re.IGNORECASE)[1:-1]], strict=True
    ):
        if between and not re.fullmatch(_AND, between, re.IGNORECASE):
            found += [(found[-1] + step) % 7 for step in range(1, (number - found[-1]) % 7)]
        found.append(number)
    return found


def _on_days(days: list[int] | tuple[int, ...], interval: int = 1) -> Repetition:
    chosen = tuple(sorted(set(days)))
    parts = {"FREQ": "WEEKLY", "BYDAY": ",".join(_DAYS[day] for day in chosen)}
    return Repetition({**parts, **({"INTERVAL": str(interval)} if interval > 1 else {})}, chosen)


def _except(found: re.Match[str]) -> Repetition | None:
    left_out = [5, 6] if found[1].lower() == "weekends" else _listed(found[1])
    return _without(range(7), left_out)


def _except_workdays(found: re.Match[str]) -> Repetition | None:
    return _without(_WORKDAYS, _listed(found[1]))


def _without(days: range | list[int], left_out: list[int]) -> Repetition | None:
    kept = [day for day in days if day not in left_out]
    return _on_days(kept) if kept else None


def _interval(text: str | None) -> int:
    given = (text or "1").lower()
    return 2 if given in ("other", "second") else round(amount(given))


def _unit(found: re.Match[str]) -> Repetition:
    interval = _interval(found[1])
    parts = {"FREQ": _UNITS[found[2].lower()]}
    return Repetition({**parts, **({"INTERVAL": str(interval)} if interval > 1 else {})})


def take_repetition(phrase: Phrase) -> tuple[Repetition | None, Found | None]:
    """The recurrence of a text with its end, and the day from which it is said to start."""
    found: Repetition | None = None
    while used := phrase.use(mark_of(REPEAT)):
        found = used[0].value if found is None else _joined(found, used[0].value)
    if found is None:
        return None, None
    day, length = mark_of(DAY), mark_of(LENGTH)
    first = None
    if between := phrase.use(rf"(?:\b(?:from|starting|beginning)\s+(?:on\s+)?)?{day}{TO}{day}"):
        first, found = between[0], found.having("UNTIL", f"{between[1].value:%Y%m%d}")
    elif until := phrase.use(rf"\b(?:(?:up\s+)?(?:until|till|to)|through|thru|ending)\s+(?:on\s+)?{day}"):
        found = found.having("UNTIL", f"{until[0].value:%Y%m%d}")
    if first is None and (start := phrase.use(rf"\b(?:starting|beginning|from|as\s+of)\s+(?:on\s+)?{day}")):
        first = start[0]
    return _counted(phrase, found, length), first


def _counted(phrase: Phrase, found: Repetition, length: str) -> Repetition:
    """With `10 times` or `for 10 days`; a length in hours is that of each event."""
    before = len(phrase.found)
    phrase.mark(DONE, r"(?:for\s+)?(\d+)\s+(?:times|occurrences)", lambda each: each[1])
    if len(phrase.found) > before:
        return found.having("COUNT", phrase.found[before].value)
    if any(each.value.unit in _LONGER for each in phrase.left(LENGTH)) and (used := phrase.use(length)):
        return found.lasting(used[0].value)
    return found


def _joined(one: Repetition, other: Repetition) -> Repetition:
    """`weekly` and `Thursdays`: the more exact one; raises `ToolFailure` if they differ."""
    for plain, exact in ((one, other), (other, one)):
        if plain.days or len(exact.parts) < len(plain.parts):
            continue
        if plain.parts["FREQ"] == exact.parts["FREQ"] and set(plain.parts.items()) <= set(
            exact.parts.items()
        ):
            return exact
        if (
            set(plain.parts) == {"FREQ", "INTERVAL"}
            and plain.parts["FREQ"] == "WEEKLY"
            and len(exact.days) == 1
        ):
            return (
                _on_days(exact.days, int(plain.parts["INTERVAL"]))
                if exact.parts["FREQ"] == "WEEKLY"
                else exact
            )
        if plain.parts == {"FREQ": "DAILY"} and exact.days == tuple(_WORKDAYS):
            return exact
    raise ToolFailure("The text names more than one recurrence.", "Use create_event with `recurrence`.")


def _after(start: date, length: Length) -> date:
    """The same day some weeks, months or years later; the last of the month if it has no such day."""
    number = round(length.number)
    if length.unit in ("day", "week"):
        return start + timedelta(days=number * (7 if length.unit == "week" else 1))
    months = start.month - 1 + number * (12 if length.unit == "year" else 1)
    first = date(start.year + months // 12, months % 12 + 1, 1)
    last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    return min(first.replace(day=1) + timedelta(days=start.day - 1), last)
