"""When a server is called slow."""

from __future__ import annotations

from toolcrib.schema.servers import ServerEntry
from toolcrib.servers.health import ResponseTimes, SilenceTimer


def paced(*seconds: float, call_timeout: float = 60.0) -> str | None:
    pace = ResponseTimes(ServerEntry(name="notes", type="stdio", raw={}, call_timeout=call_timeout))
    for one in seconds:
        pace.took(one)
    return pace.complaint


def test_three_of_the_last_ten_answers_are_too_many():
    assert paced(*[0.1] * 8, *[6.0] * 3) == "3 of the last 10 answers took over 5 s."


def test_two_are_not_and_neither_are_few_answers_in_all():
    assert paced(*[0.1] * 8, 6.0, 6.0) is None
    assert paced(6.0, 6.0, 6.0) is None


def test_it_is_forgotten_when_answers_come_quickly_again():
    assert paced(*[6.0] * 5, *[0.1] * 8) is None


def test_a_server_that_was_given_more_time_is_slow_by_nature():
    assert paced(*[30.0] * 10, call_timeout=600.0) is None


def test_what_tells_its_progress_is_at_work():
    now, told = [0.0], []
    watch = SilenceTimer(lambda: now[0], lambda *news: told.append(news))

    now[0] = 60.0
    watch.on_progress(1, 2, "half")
    now[0] = 61.0

    assert (watch.seconds, told) == (1.0, [(1, 2, "half")])
