"""The recurrences that a text names, the same for events and for schedules."""

from __future__ import annotations

import pytest

from toolcrib.serverkit.repetitions import Repetition, mark_repetitions
from toolcrib.serverkit.time_phrases import REPEAT, Phrase


def named(text: str) -> list[Repetition]:
    phrase = Phrase.of(text)
    mark_repetitions(phrase)
    return [found.value for found in phrase.left(REPEAT)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("every day", {"FREQ": "DAILY"}),
        ("every other week", {"FREQ": "WEEKLY", "INTERVAL": "2"}),
        ("quarterly", {"FREQ": "MONTHLY", "INTERVAL": "3"}),
        ("every Mon-Wed and Sunday", {"FREQ": "WEEKLY", "BYDAY": "MO,TU,WE,SU"}),
        ("every three weeks on Fri", {"FREQ": "WEEKLY", "BYDAY": "FR", "INTERVAL": "3"}),
        ("weekdays except Thurs", {"FREQ": "WEEKLY", "BYDAY": "MO,TU,WE,FR"}),
        ("on weekends", {"FREQ": "WEEKLY", "BYDAY": "SA,SU"}),
        ("monthly on day 15", {"FREQ": "MONTHLY", "BYMONTHDAY": "15"}),
        ("the last day of every month", {"FREQ": "MONTHLY", "BYMONTHDAY": "-1"}),
        ("every fifth Friday of the month", {"FREQ": "MONTHLY", "BYDAY": "5FR"}),
    ],
)
def test_words_become_the_parts_of_a_rule(text: str, parts: dict[str, str]) -> None:
    assert [found.parts for found in named(text)] == [parts]


def test_every_second_weekday_has_two_readings() -> None:
    (found,) = named("every second Tuesday")

    assert found.other is not None
    assert (found.parts["FREQ"], found.other.parts["FREQ"]) == ("MONTHLY", "WEEKLY")


@pytest.mark.parametrize("text", ["Monday", "May 5", "semi-monthly", "every Tom"])
def test_other_words_are_no_recurrence(text: str) -> None:
    assert named(text) == []
