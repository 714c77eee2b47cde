"""Reads how an event repeats, such as "every other Tuesday until 20 December", as a recurrence rule."""

from __future__ import annotations

import re
from datetime import date

from toolcrib.bundled.calendar.rules import UnreadableRule, read_rule, write_rule
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.repetitions import FREQUENCIES, WORKDAYS, Repetition, mark_repetitions, on_days
from toolcrib.serverkit.time_phrases import (
    DAY,
    DONE,
    LENGTH,
    REPEAT,
    TO,
    Length,
    MarkedWords,
    Phrase,
    mark_days,
    mark_lengths,
    mark_of,
)


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
        first, found = between[0], found.having("UNTIL", f"{between[1].value:%Y%m%d}")
    elif until := phrase.use(rf"\b(?:(?:up\s+)?(?:until|till|to)|through|thru|ending)\s+(?:on\s+)?{day}"):
        found = found.having("UNTIL", f"{until[0].value:%Y%m%d}")
    if first is None and (start := phrase.use(rf"\b(?:starting|beginning|from|as\s+of)\s+(?:on\s+)?{day}")):
        first = start[0]
    return _counted(phrase, found), first


def _counted(phrase: Phrase, found: Repetition) -> Repetition:
    """With `10 times` or `for 10 days`; a length in hours is that of each event."""
    before = len(phrase.found)
    phrase.mark(DONE, r"(?:for\s+)?(\d+)\s+(?:times|occurrences)", lambda times: times[1])
    if len(phrase.found) > before:
        return found.having("COUNT", phrase.found[before].value)
    if any(length.value.unit in FREQUENCIES for length in phrase.left(LENGTH)) and (
        used := phrase.use(mark_of(LENGTH))
    ):
        return found.lasting(_of_series(used[0].value, found))
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
