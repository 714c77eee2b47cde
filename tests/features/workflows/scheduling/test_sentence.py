"""Schedules in words, both ways."""

from __future__ import annotations

import pytest

from toolcrib.features.workflows.scheduling.phrases import as_cron, describe_schedule


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("30 7 * * 1-5", "Every weekday at 07:30, Europe/Berlin"),
        ("weekdays at 7:30", "Every weekday at 07:30, Europe/Berlin"),
        ("every 15 minutes", "Every 15 minutes"),
        ("every 1 hours", "Every hour"),
        ("*/15 * * * *", "Every 15 minutes, Europe/Berlin"),
        ("0 9,17 * * *", "Every day at 09:00 and 17:00, Europe/Berlin"),
        ("15 * * * *", "Every hour at :15, Europe/Berlin"),
        ("0 9 1 * *", "On day 1 of every month at 09:00, Europe/Berlin"),
        ("0 9 * 3,4 mon", "Every Monday in March and April at 09:00, Europe/Berlin"),
        ("5 4 1 * 1", "On day 1 of every month, and every Monday, at 04:05, Europe/Berlin"),
        ("7 8-18 * * *", "On the cron schedule 7 8-18 * * *, Europe/Berlin"),
    ],
)
def test_a_schedule_is_said_in_words(text: str, sentence: str) -> None:
    assert describe_schedule(text, "Europe/Berlin") == sentence


@pytest.mark.parametrize(
    ("phrase", "cron"),
    [
        ("daily at 07:30", "30 7 * * *"),
        ("Every Day at 7:30 pm", "30 19 * * *"),
        ("every monday and friday at 9am", "0 9 * * 1,5"),
        ("weekly on Tue, at midnight", "0 0 * * 2"),
        ("mondays, wednesdays and fridays at noon", "0 12 * * 1,3,5"),
        ("monthly on the last day at 18:00", "0 18 L * *"),
        ("monthly on the 3rd at 12am", "0 0 3 * *"),
        ("hourly at :05", "5 * * * *"),
        ("every Mon-Wed at 7:30 a.m.", "30 7 * * 1,2,3"),
        ("every weekday except Thurs at 19h", "0 19 * * 1,2,3,5"),
        ("the 15th of every month at midday", "0 12 15 * *"),
    ],
)
def test_a_phrase_means_a_cron_expression(phrase: str, cron: str) -> None:
    assert as_cron(phrase) == cron
