"""What comes after a failure: again soon, again slowly, or not by itself."""

from __future__ import annotations

import pytest

from toolcrib.errors import (
    AuthRequired,
    CallTimeout,
    ConfigError,
    ConnectionLost,
    MissingSecret,
    NetworkRefused,
    PeerError,
    RemoteUnreachable,
    ResourceShortage,
    SpawnFailed,
    StartFailed,
    ToolcribError,
)
from toolcrib.schema.servers import RestartPolicy, ServerState
from toolcrib.servers.restarts import RestartBudget, RestartDecision

CRASH = ConnectionLost("gone")
OUTAGE = RemoteUnreachable("nobody there")


def budget(**policy: float) -> RestartBudget:
    """Without jitter, unless the test says otherwise."""
    return RestartBudget(RestartPolicy(**{"jitter": 0.0, **policy}), jitter=lambda: 0.5)


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (ConfigError("wrong"), ServerState.NEEDS_CONFIG),
        (MissingSecret("none"), ServerState.NEEDS_CONFIG),
        (NetworkRefused("not there"), ServerState.FAILED),
        (AuthRequired("401"), ServerState.NEEDS_AUTH),
    ],
)
def test_what_only_a_person_can_mend_is_never_retried(error: ToolcribError, state: ServerState):
    for _ in range(3):
        assert budget().after(error, now=0, ready_for=0) == RestartDecision(state)


@pytest.mark.parametrize("error", [CRASH, StartFailed("slow"), CallTimeout("late"), PeerError("no", code=1)])
def test_a_crash_is_retried_later_each_time_and_only_every_few_minutes_in_the_end(error: ToolcribError):
    one = budget(first_delay=1, longest_delay=5, give_up_after=6)
    verdicts = [one.after(error, now=float(n), ready_for=0) for n in range(10)]
    assert [verdict.delay for verdict in verdicts] == [1, 2, 4, 5, 5, 60, 120, 240, 300, 300]
    assert {verdict.state for verdict in verdicts} == {ServerState.BACKOFF}


def test_retries_stay_slow_until_the_server_was_ready_for_a_while():
    one = budget(first_delay=1, give_up_after=2, window=100)
    delays = [one.after(CRASH, now=n * 1000.0, ready_for=0).delay for n in range(1)]
    delays += [one.after(CRASH, now=1.0, ready_for=9).delay]
    delays += [one.after(CRASH, now=n * 1000.0, ready_for=5).delay for n in range(1, 3)]
    assert delays == [1, 60, 120, 240]
    assert one.after(CRASH, now=9000, ready_for=10).delay == 0
    assert one.after(CRASH, now=9001, ready_for=0).delay == 1


@pytest.mark.parametrize("seconds", [10, 11, 70, 100_000])
def test_a_server_that_crashes_after_some_good_work_is_restarted_at_once_every_time(seconds: float):
    one = budget(first_delay=1, give_up_after=5)
    assert {one.after(CRASH, now=n * seconds, ready_for=seconds).delay for n in range(100)} == {0}


def test_a_server_that_works_for_nine_seconds_at_a_time_is_never_given_up():
    one = budget(first_delay=1, give_up_after=5)
    verdicts = [one.after(CRASH, now=n * 9.0, ready_for=9) for n in range(100)]
    assert {verdict.state for verdict in verdicts} == {ServerState.BACKOFF}
    assert verdicts[-1].delay == 300


def test_a_command_that_cannot_be_run_counts_as_failed_and_is_tried_now_and_then():
    one = budget()
    verdicts = [one.after(SpawnFailed("not found"), now=n * 300.0, ready_for=0) for n in range(5)]
    assert {verdict.state for verdict in verdicts} == {ServerState.FAILED}
    assert [verdict.delay for verdict in verdicts] == [60, 120, 240, 300, 300]
    never = RestartBudget(RestartPolicy(enabled=False))
    assert never.after(SpawnFailed("not found"), now=0, ready_for=0) == RestartDecision(ServerState.FAILED)


def test_without_restarts_a_crash_is_the_end():
    one = RestartBudget(RestartPolicy(enabled=False))
    assert one.after(CRASH, now=0, ready_for=100) == RestartDecision(ServerState.FAILED)


def test_a_shortage_of_the_machine_uses_up_nothing():
    one = budget(give_up_after=2, first_delay=1)
    for n in range(10):
        assert one.after(ResourceShortage("no room"), now=float(n), ready_for=0).state is ServerState.BACKOFF
    assert one.crashes == 0


def test_crashes_long_ago_do_not_count():
    one = budget(give_up_after=3, window=100, first_delay=1)
    for n in range(20):
        assert one.after(CRASH, now=n * 60.0, ready_for=1) == RestartDecision(
            ServerState.BACKOFF, 2 if n else 1
        )
    assert one.after(CRASH, now=20 * 60.0 - 50, ready_for=0).delay == 60


def test_a_good_while_of_being_ready_wipes_the_slate():
    one = budget(give_up_after=3, first_delay=1, good_after=60)
    one.after(CRASH, now=0, ready_for=0)
    one.after(CRASH, now=1, ready_for=0)
    assert one.after(CRASH, now=70, ready_for=60) == RestartDecision(ServerState.BACKOFF, 0)
    assert one.after(CRASH, now=71, ready_for=0) == RestartDecision(ServerState.BACKOFF, 1)


def test_a_person_who_asks_for_a_fresh_start_gets_one():
    one = budget(give_up_after=2, first_delay=1)
    one.after(CRASH, now=0, ready_for=0)
    one.reset()
    assert one.after(CRASH, now=1, ready_for=0) == RestartDecision(ServerState.BACKOFF, 1)


def test_an_outage_is_retried_slowly_for_ever():
    one = budget(give_up_after=2)
    delays = [one.after(OUTAGE, now=float(n), ready_for=0).delay for n in range(100)]
    assert delays[:6] == [30, 60, 120, 240, 300, 300]
    assert set(delays[6:]) == {300}


def test_an_outage_after_having_been_there_is_retried_soon_and_then_slowly():
    one = budget()
    assert one.after(OUTAGE, now=0, ready_for=60).delay == 0
    assert one.after(OUTAGE, now=1, ready_for=0).delay == 30
    assert one.after(OUTAGE, now=40, ready_for=60).delay == 0


def test_a_remote_host_that_is_there_for_moments_only_is_not_asked_every_second():
    one = budget()
    delays = [one.after(OUTAGE, now=float(n), ready_for=1).delay for n in range(6)]
    assert delays == [1, 60, 120, 240, 300, 300]


def test_outages_use_up_nothing_of_the_crash_budget():
    one = budget(give_up_after=2, first_delay=1)
    for n in range(50):
        one.after(OUTAGE, now=float(n), ready_for=0)
    assert one.after(CRASH, now=50, ready_for=0) == RestartDecision(ServerState.BACKOFF, 1)


def test_without_restarts_a_crash_is_the_end_but_an_outage_is_not():
    one = RestartBudget(RestartPolicy(enabled=False))
    assert one.after(CRASH, now=0, ready_for=0) == RestartDecision(ServerState.FAILED)
    assert one.after(OUTAGE, now=0, ready_for=0).state is ServerState.BACKOFF


@pytest.mark.parametrize(("chance", "delay"), [(0.0, 8.0), (0.5, 10.0), (1.0, 12.0)])
def test_delays_are_spread(chance: float, delay: float):
    one = RestartBudget(RestartPolicy(first_delay=10, jitter=0.2), jitter=lambda: chance)
    assert one.after(CRASH, now=0, ready_for=0).delay == pytest.approx(delay)
