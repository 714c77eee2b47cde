"""A sample of sentences: each becomes exactly the event that it means, or is refused."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from babel import Locale

from toolcrib.bundled.calendar.model import NewEvent
from toolcrib.bundled.calendar.quick_add import understand
from toolcrib.serverkit.context import ToolFailure

NOW = datetime(2026, 11, 17, 12, 0, tzinfo=ZoneInfo("Europe/Berlin"))
LINES = Path(__file__).with_name("sentences.txt").read_text(encoding="utf-8").splitlines()[1:]
SAMPLE = [tuple(line.split(" => ")) for line in LINES]
UNKNOWN = [
    *(
        "fortnight",
        "months",
        "decade",
        "except",
        "quarter",
        "dawn",
        "half-day",
        "IST",
        "CST",
        "annual",
        "biannual",
    ),
    *("Freitag", "morgen", "halb", "mañana", "demain", "soir", "domani", "vrijdag", "fredag", "październik"),
    *("завтра", "明日", "내일", "10:75", "11/26/26", "kw48", "7ish", "M/W/F"),
]
"""Words about time that no sentence here is understood with."""
_CODES = "de fr es it pt nl sv da nb fi pl cs sk hu ro tr hr ru uk el ja zh ko ar he hi id ca lt lv et"
LANGUAGES = _CODES.split()
ENGLISH = Locale("en")


def read(sentence: str) -> NewEvent | None:
    try:
        return understand(sentence, NOW)
    except ToolFailure:
        return None


def shown(event: NewEvent | None) -> str:
    if event is None:
        return "refused"
    times = [
        each.isoformat(**({"timespec": "minutes"} if isinstance(each, datetime) else {}))
        for each in (event.start, event.end)
    ]
    return " | ".join([event.title, *times, event.location, *event.rules]).rstrip(" |")


def test_a_sentence_means_this_event_or_is_refused() -> None:
    assert {sentence: shown(read(sentence)) for sentence, _ in SAMPLE} == dict(SAMPLE)


@pytest.mark.parametrize("word", UNKNOWN)
def test_a_word_about_time_is_never_left_in_a_title(word: str) -> None:
    wrong = []
    for sentence, _ in SAMPLE[UNKNOWN.index(word) % 24 :: 24]:
        words, times = sentence.split(), _times(read(sentence))
        for at in range(len(words) + 1):
            changed = " ".join([*words[:at], word, *words[at:]])
            event = read(changed)
            if event is None or (_times(event) == times and word not in _words(event)):
                continue
            wrong.append((changed, shown(event)))
    assert wrong == []


def _times(event: NewEvent | None) -> object:
    return (event.start, event.end, event.rules) if event else None


def _words(event: NewEvent) -> list[str]:
    return f"{event.title} {event.location}".split()


def translated(language: str) -> dict[str, str]:
    """English names of weekdays and months, and those of another language."""
    other = Locale(language)
    names = [(ENGLISH.days["format"]["wide"], other.days["format"]["wide"])]
    names += [
        (ENGLISH.months["format"]["wide"], other.months[form]["wide"]) for form in ("format", "stand-alone")
    ]
    return {there[key]: here[key] for here, there in names for key in here}


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_of_days_and_months_in_other_languages_are_refused(language: str) -> None:
    wrong = []
    for foreign, english in translated(language).items():
        for pattern in (
            "Meeting {} 14:30",
            "Meeting 24 {} 14:30",
            "{} meeting at 10:00",
            "Offsite {} all day",
        ):
            event = read(pattern.format(foreign))
            if event is not None and shown(event) != shown(read(pattern.format(english))):
                wrong.append((pattern.format(foreign), shown(event)))
    assert wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sentence_with_a_translated_day_is_the_same_event_or_refused(language: str) -> None:
    names = {english.lower(): foreign for foreign, english in translated(language).items()}
    for sentence, meaning in SAMPLE[LANGUAGES.index(language) % 4 :: 4]:
        changed = re.sub(r"[A-Za-z]+", lambda found: names.get(found[0].lower(), found[0]), sentence)
        if changed != sentence:
            assert shown(read(changed)) in ("refused", meaning), changed


def test_a_refusal_names_the_words_and_the_call_to_make() -> None:
    with pytest.raises(ToolFailure) as refused:
        understand("Dinner with Bo tomorrow gegen 20:00", NOW)
    assert refused.value.message == "Not understood: 'gegen'. No event was created."
    assert 'create_event(title="Dinner with Bo", start="2026-11-18T20:00")' in str(refused.value.hint)


def test_an_unclear_recurrence_is_refused_with_both_calls() -> None:
    with pytest.raises(ToolFailure) as refused:
        understand("sync every second Tuesday 9-10", NOW)
    assert 'recurrence="FREQ=MONTHLY;BYDAY=2TU"' in str(refused.value.hint)
    assert 'recurrence="FREQ=WEEKLY;BYDAY=TU;INTERVAL=2"' in str(refused.value.hint)


def test_a_time_in_the_past_is_refused() -> None:
    with pytest.raises(ToolFailure, match="in the past, on 2026-11-17 at 09:00"):
        understand("Standup today 9am", NOW)
