"""Understands a sentence such as "Lunch with Anna at Mario's Friday 12:30" as an event.

Everything that was understood is reported back; what can be read in two ways is refused with a hint.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

from toolcrib.bundled.calendar.model import Attendee, Moment, NewEvent, like, wall
from toolcrib.bundled.calendar.phrases import GAP, Phrase, take_date, take_duration, take_times
from toolcrib.bundled.calendar.repetition import Repetition, take_repetition
from toolcrib.bundled.calendar.rules import checked_rule, first_date
from toolcrib.bundled.calendar.zones import settled
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.mail_address import header_text, mailto_address

MAX_LENGTH = 1000
DEFAULT_LENGTH = timedelta(hours=1)
_WORD = r"[^\W\d_][\w.'’-]*"
_ADDRESS = (
    rf"(?:(?P<name>{_WORD}(?:\s+{_WORD})?)\s+)?<?(?<![\w.+-])(?P<address>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)>?"
)
_PLACE = re.compile(rf"(?:^|\s|{GAP})(?:at|in|@)\s+(?P<place>[^{GAP}]+?)\s*(?=$|{GAP})", re.IGNORECASE)
_ENDS = re.compile(
    r"^(?:(?:and|with|on|at|from|by)\b|[,;:–-])\s*|\s*(?:\b(?:and|with|on|at|from|by|for)|[,;:–-])$",
    re.IGNORECASE,
)


def understand(text: str, now: datetime) -> NewEvent:
    """The event that a sentence describes; `now` is in the user's zone. Raises `ToolFailure`."""
    if len(text) > MAX_LENGTH:
        raise ToolFailure(f"The text is longer than {MAX_LENGTH} characters.", "Use create_event.")
    phrase = Phrase(" ".join(text.replace(GAP, " ").split()))
    people = _take_people(phrase)
    repetition = take_repetition(phrase, now.date())
    length = take_duration(phrase)
    all_day = phrase.take(r"all[\s-]day") is not None
    day = take_date(phrase, now.date())
    times = None if all_day else take_times(phrase)
    if times is None and phrase.mentions("tonight"):
        raise ToolFailure("The text does not say at what time.", "Add it, such as 'tonight at 8'.")
    if day is None and times is None and repetition is None:
        raise ToolFailure(
            "The text does not say when.",
            "Add a day or a time, such as 'Friday 12:30' or 'tomorrow at noon'.",
        )
    start, end = _times(day, times, length, repetition, now)
    rules = _rules(repetition, start)
    if rules and repetition is not None and day is None:
        first = first_date(rules[0], start)
        start, end = first, like(first, wall(first) + (wall(end) - wall(start)))
        rules = _rules(repetition, start)
    place = _take_place(phrase)
    return NewEvent(
        title=_title(phrase.text, text),
        start=_settled(start),
        end=_settled(end),
        location=place,
        attendees=tuple(people),
        rules=rules,
    )


def read_moment(text: str, now: datetime) -> Moment | None:
    """A day or time in words, such as "tomorrow 15:00"; None if it is not one."""
    phrase = Phrase(" ".join(text.replace(GAP, " ").split()))
    if phrase.take("(?:right )?now"):
        return now.replace(second=0, microsecond=0) if not re.search(r"\w", phrase.text) else None
    day = take_date(phrase, now.date())
    times = take_times(phrase)
    if re.search(r"\w", phrase.text) or (day is None and times is None) or (times and times[1]):
        return None
    if times is None:
        return day
    return settled(datetime.combine(day or now.date(), times[0], now.tzinfo))


def _settled(moment: Moment) -> Moment:
    return settled(moment) if isinstance(moment, datetime) else moment


def _rules(repetition: Repetition | None, start: Moment) -> tuple[str, ...]:
    return (checked_rule(repetition.rule(wall(start).date()), start),) if repetition else ()


def _times(
    day: date | None,
    times: tuple[time, time | None] | None,
    length: timedelta | None,
    repetition: Repetition | None,
    now: datetime,
) -> tuple[Moment, Moment]:
    first = day or now.date()
    if times is None:
        if length is not None and length < timedelta(days=1):
            raise ToolFailure("The text says how long, but not when.", "Add a time, such as 'at 15:00'.")
        return first, first + (length or timedelta(days=1))
    start = datetime.combine(first, times[0], now.tzinfo)
    if day is None and start <= now:
        start += timedelta(days=1)
    if times[1] is None:
        return start, start + (length or DEFAULT_LENGTH)
    if length is not None:
        raise ToolFailure("The text names an end and a duration.", "Say only one of them.")
    end = datetime.combine(start.date(), times[1], now.tzinfo)
    return start, end if end > start else end + timedelta(days=1)


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
    phrase.text = f"{phrase.text[: found.start()]}{GAP}{phrase.text[found.end() :]}"
    return found["place"].strip(" ,.;")


def _title(rest: str, text: str) -> str:
    words = " ".join(rest.replace(GAP, " ").split())
    previous = None
    while previous != words:
        previous, words = words, _ENDS.sub("", words).strip()
    if not words:
        raise ToolFailure(f"The text {text[:80]!r} does not say what the event is.", "Add a title.")
    return words
