"""Recurrence rules: from words ("every 2 weeks on Mon") or RRULE, back into words, their dates, and how a
series is split in two. Decides which rules are refused, such as more than once an hour, and how many steps
are computed.

All dates are those of the clock on the wall, so that a weekly event at 9:00 stays at 9:00 when daylight
saving begins or ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from typing import Any

from toolcrib.bundled.calendar.model import Moment, like, wall
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.repetitions import (
    FREQUENCIES,
    ORDINALS,
    RULE_DAYS,
    WORKDAYS,
    Repetition,
    mark_repetitions,
    on_days,
)
from toolcrib.serverkit.time_phrases import (
    DAY,
    DONE,
    LENGTH,
    REPEAT,
    TO,
    WEEKDAYS,
    Length,
    MarkedWords,
    Phrase,
    mark_days,
    mark_lengths,
    mark_of,
)

MAX_STEPS = 500_000
"""Of one rule from its start to the end of the time that is asked for; about half a second."""
MAX_LOOKUPS = 300_000
"""Days that are compared with a rule, some eight hundred years of them."""
_UNITS = {"MINUTELY": 60, "HOURLY": 3600, "DAILY": 86400}
_UNTIL = re.compile(r"(\d{8})(?:T(\d{6})(Z?))?")
_PLAIN = re.compile(r"[A-Z0-9=;,+-]+")
_FREQUENCIES = {
    "SECONDLY": "second",
    "MINUTELY": "minute",
    "HOURLY": "hour",
    **{frequency: unit for unit, frequency in FREQUENCIES.items()},
}
_ORDINALS = {str(number): word for word, number in ORDINALS.items() if word.isalpha()}
_IN_WORDS = {"FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY", "COUNT", "UNTIL", "WKST"}


class UnreadableRule(ValueError):
    """A rule that cannot be expanded; the message says why."""


def read_rule(text: str) -> dict[str, str]:
    """The parts of a rule in capitals; raises `UnreadableRule`."""
    text = text.strip().removeprefix("RRULE:").strip(";")
    parts: dict[str, str] = {}
    for part in text.split(";"):
        name, equals, value = part.partition("=")
        if not equals or not value.strip():
            raise UnreadableRule(f"{part[:40]!r} is not NAME=VALUE")
        parts[name.strip().upper()] = value.strip().upper()
    if parts.get("FREQ") not in _FREQUENCIES:
        raise UnreadableRule("FREQ is missing or unknown")
    return parts


def write_rule(parts: dict[str, str]) -> str:
    """The rule as text, FREQ first."""
    return ";".join(f"{name}={parts[name]}" for name in ("FREQ", *(key for key in parts if key != "FREQ")))


def checked_rule(text: str, start: Moment) -> str:
    """A rule for an event with this start; raises `ToolFailure` if it never occurs or cannot be read."""
    try:
        parts = read_rule(text)
        if "COUNT" in parts and "UNTIL" in parts:
            raise UnreadableRule("COUNT and UNTIL exclude each other")
        if parts["FREQ"] in ("SECONDLY", "MINUTELY"):
            raise UnreadableRule("events cannot repeat more than once an hour")
        if "UNTIL" in parts:
            parts["UNTIL"] = _until_text(_last_time(parts["UNTIL"], start), start)
        found = write_rule(parts)
        if not _PLAIN.fullmatch(found):
            raise UnreadableRule("it has characters that no rule has")
        if next(dates(found, start, wall(start) + timedelta(days=366 * 30)), None) is None:
            raise UnreadableRule("it has no dates")
    except UnreadableRule as error:
        raise ToolFailure(
            f"The recurrence {text[:100]!r} cannot be used: {error}.",
            "Use a rule such as FREQ=WEEKLY;BYDAY=MO,WE;COUNT=10, or words such as 'every Monday'.",
        ) from None
    return found


def dates(rule: str, start: Moment, end: datetime) -> Iterator[datetime]:
    """The dates of a rule up to `end`, on the clock on the wall; raises `UnreadableRule`.

    COUNT counts the dates of the rule, excluded ones too.
    """
    from dateutil.rrule import rrulestr

    parts = read_rule(rule)
    count, until = parts.pop("COUNT", ""), parts.pop("UNTIL", "")
    first = wall(start)
    last = min(end, _last_time(until, start)) if until else end
    if last < first:
        return
    _check_steps(parts, first, last)
    try:
        found = _bounded(rrulestr(f"{write_rule(parts)};UNTIL={last:%Y%m%dT%H%M%S}", dtstart=first))
        yield from islice(found, int(count) if count else None)
    except UnreadableRule:
        raise
    except (ValueError, TypeError, OverflowError, LookupError, AttributeError) as error:
        raise UnreadableRule(str(error)[:100] or "it is invalid") from None


def _check_steps(parts: dict[str, str], first: datetime, last: datetime) -> None:
    interval = parts.get("INTERVAL", "1")
    if not interval.isdigit() or int(interval) < 1:
        raise UnreadableRule("INTERVAL must be 1 or more")
    if parts["FREQ"] == "SECONDLY":
        raise UnreadableRule("it repeats every second")
    seconds = _UNITS.get(parts["FREQ"], 7 * 86400) * int(interval)
    if (last - first).total_seconds() / seconds > MAX_STEPS:
        raise UnreadableRule("it repeats too often")


class _Counted(tuple[int, ...]):
    """Days or months of a rule, looked up a limited number of times.

    dateutil searches for the next date until the year 9999, also if there is none, and cannot be stopped
    otherwise.
    """

    lookups = 0

    def __contains__(self, item: object) -> bool:
        self.lookups += 1
        if self.lookups > MAX_LOOKUPS:
            raise UnreadableRule("it has no more dates")
        return super().__contains__(item)


def _bounded(rule: Any) -> Any:
    for name in ("_bymonth", "_bymonthday", "_bynmonthday", "_byyearday", "_byweekday"):
        if getattr(rule, name):
            setattr(rule, name, _Counted(getattr(rule, name)))
    return rule


def _last_time(until: str, start: Moment) -> datetime:
    """UNTIL on the clock of the event. A day includes all of it, as most programs mean it."""
    found = _UNTIL.fullmatch(until.replace("-", "").replace(":", ""))
    if found is None:
        raise UnreadableRule("UNTIL is not a date")
    try:
        day = datetime.strptime(found[1], "%Y%m%d")
        if found[2] is None or not isinstance(start, datetime):
            return datetime.combine(day, time(23, 59, 59))
        moment = datetime.strptime(found[1] + found[2], "%Y%m%d%H%M%S")
    except ValueError:
        raise UnreadableRule("UNTIL is not a date") from None
    if found[3] and start.tzinfo is not None:
        return moment.replace(tzinfo=UTC).astimezone(start.tzinfo).replace(tzinfo=None)
    return moment


def _until_text(last: datetime, start: Moment) -> str:
    """UNTIL as the standard wants it: of the start's kind, and in UTC if that has a zone."""
    if not isinstance(start, datetime):
        return last.strftime("%Y%m%d")
    if start.tzinfo is None:
        return last.strftime("%Y%m%dT%H%M%S")
    return last.replace(tzinfo=start.tzinfo).astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def split_rule(rule: str, start: Moment, at: Moment) -> tuple[str, str]:
    """The rule of the occurrences before `at`, and that of the rest."""
    parts = read_rule(rule)
    cut = wall(at)
    before = {name: value for name, value in parts.items() if name not in ("COUNT", "UNTIL")}
    before["UNTIL"] = _until_text(cut - timedelta(seconds=1), start)
    after = dict(parts)
    if "COUNT" in parts:
        passed = sum(1 for day in dates(rule, start, cut) if day < cut)
        after["COUNT"] = str(max(1, int(parts["COUNT"]) - passed))
    return write_rule(before), write_rule(after)


def moved_rule(rule: str, old: Moment, new: Moment) -> str:
    """The rule of a series that is moved to another day; raises `ToolFailure` if that is not clear."""
    parts = read_rule(rule)
    days = (wall(new).date() - wall(old).date()).days
    if "UNTIL" in parts:
        last = _last_time(parts["UNTIL"], old) + (wall(new) - wall(old))
        parts["UNTIL"] = _until_text(last, new)
    if days and "BYDAY" in parts and parts["FREQ"] == "WEEKLY":
        parts["BYDAY"] = ",".join(
            RULE_DAYS[(RULE_DAYS.index(day) + days) % 7] for day in parts["BYDAY"].split(",")
        )
    elif days and set(parts) & {"BYDAY", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYMONTH"}:
        raise ToolFailure(
            f"The series repeats by {rule}, which cannot be moved to another day as it is.",
            "Give `recurrence` too.",
        )
    return write_rule(parts)


def first_date(rule: str, start: Moment) -> Moment:
    """The first date of a rule that is not before `start`."""
    end = wall(start) + timedelta(days=366 * 30)
    found = next(dates(rule, start, end), None)
    return like(start, found) if found is not None else start


def rule_words(rules: Sequence[str]) -> str:
    """`every 2 weeks on Mon, Wed, 10 times`; the rule itself if words would not say all of it."""
    return "; ".join(map(_rule_words, rules))


def _rule_words(rule: str) -> str:
    try:
        parts = read_rule(rule)
    except UnreadableRule:
        return rule
    days = [_day_words(day) for day in parts.get("BYDAY", "").split(",") if day]
    if set(parts) - _IN_WORDS or not all(days):
        return rule
    number, unit = parts.get("INTERVAL", "1"), _FREQUENCIES[parts["FREQ"]]
    words = f"every {unit}" if number == "1" else f"every {number} {unit}s"
    if days:
        words += f" on {', '.join(days)}"
    if "BYMONTHDAY" in parts:
        words += f" on day {parts['BYMONTHDAY'].replace('-1', 'last')}"
    if "COUNT" in parts:
        words += f", {parts['COUNT']} times"
    if "UNTIL" in parts:
        until = parts["UNTIL"]
        words += f", until {until[:4]}-{until[4:6]}-{until[6:8]}"
    return words


def _day_words(text: str) -> str:
    """Empty for what words would not say."""
    if text[-2:] not in RULE_DAYS:
        return ""
    name, number = WEEKDAYS[RULE_DAYS.index(text[-2:])][:3].title(), text[:-2].removeprefix("+")
    if not number:
        return name
    return f"the {_ORDINALS[number]} {name}" if number in _ORDINALS else ""


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
            rules = " or ".join(f'recurrence="{reading.rule(start)}"' for reading in (found, found.other))
            raise ToolFailure(
                f"The recurrence {text[:100]!r} can mean two things.", f"Use {rules}."
            ) from None
        return found.rule(start)


def take_repetition(phrase: Phrase) -> tuple[Repetition | None, MarkedWords | None]:
    """The recurrence of a text with its end, and the day from which it is said to start."""
    found: Repetition | None = None
    while used := phrase.use(mark_of(REPEAT)):
        found = used[0].value if found is None else _joined(found, used[0].value)
    if found is None:
        return None, None
    day = mark_of(DAY)
    first = None
    if between := phrase.use(rf"(?:\b(?:from|starting|beginning)\s+(?:on\s+)?)?{day}{TO}{day}"):
        first, found = between[0], found.having(UNTIL=f"{between[1].value:%Y%m%d}")
    elif until := phrase.use(rf"\b(?:(?:up\s+)?(?:until|till|to)|through|thru|ending)\s+(?:on\s+)?{day}"):
        found = found.having(UNTIL=f"{until[0].value:%Y%m%d}")
    if first is None and (start := phrase.use(rf"\b(?:starting|beginning|from|as\s+of)\s+(?:on\s+)?{day}")):
        first = start[0]
    return _counted(phrase, found), first


def _counted(phrase: Phrase, found: Repetition) -> Repetition:
    """With `10 times` or `for 10 days`; a length in hours is that of each event."""
    before = len(phrase.found)
    phrase.mark(DONE, r"(?:for\s+)?(\d+)\s+(?:times|occurrences)", lambda times: times[1])
    if len(phrase.found) > before:
        return found.having(COUNT=phrase.found[before].value)
    if any(length.value.unit in FREQUENCIES for length in phrase.left(LENGTH)) and (
        used := phrase.use(mark_of(LENGTH))
    ):
        return found.having(length=_of_series(used[0].value, found))
    return found


def _of_series(length: Length, repetition: Repetition) -> Length:
    """Raises `ToolFailure` if it can also be how long each event is (`every year for 3 days`)."""
    longer = list(FREQUENCIES)[list(FREQUENCIES.values()).index(repetition.parts["FREQ"]) :]
    if length.unit not in longer:
        raise ToolFailure(
            f"'for {length.number:g} {length.unit}s' can be the length of each event or of the series.",
            "Use create_event with `end` for each event, or COUNT or UNTIL in `recurrence`.",
        )
    return length


def _joined(one: Repetition, other: Repetition) -> Repetition:
    """`weekly` and `Thursdays`: the more exact one; raises `ToolFailure` if they differ."""
    for plain, exact in ((one, other), (other, one)):
        if plain.days or len(exact.parts) < len(plain.parts):
            continue
        if plain.parts.items() <= exact.parts.items():
            return exact
        if plain.parts == {"FREQ": "DAILY"} and exact.days == WORKDAYS:
            return exact
        if (
            set(plain.parts) == {"FREQ", "INTERVAL"}
            and plain.parts["FREQ"] == "WEEKLY"
            and len(exact.days) == 1
        ):
            weekly = exact.parts["FREQ"] == "WEEKLY"
            return on_days(exact.days, int(plain.parts["INTERVAL"])) if weekly else exact
    raise ToolFailure("The text names more than one recurrence.", "Use create_event with `recurrence`.")
