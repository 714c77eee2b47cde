"""Schedules of a host: on time, missed, overlapping, and started once."""

from __future__ import annotations

import pytest

from tests.features.workflows.automation.conftest import BUSY, Automation, Stopped
from toolcrib.errors import UsageError
from toolcrib.features.workflows import trigger_store as workflow_triggers
from toolcrib.schema.workflows import Trigger

HOUR = 3600.0


async def test_a_due_moment_starts_one_run_with_an_id_made_from_it(automation: Automation) -> None:
    await automation.schedule("weekdays at 08:30")

    await automation.pass_time(HOUR, step=60)

    assert automation.runs.runs == ["report-schedule-20260601T063000Z"]
    assert (await automation.starts())[0].state == "started"


async def test_the_inputs_of_a_trigger_may_refer_to_the_event(automation: Automation) -> None:
    trigger = Trigger(
        type="schedule", settings={"cron": "every 10 minutes"}, input={"when": "{{event.scheduled}}"}
    )
    automation.define("report", trigger, when={})
    await automation.turn_on("report")

    await automation.pass_time(600, step=60)

    assert automation.runs.inputs == ["{'when': '2026-06-01T06:10:00+00:00'}"]


async def test_a_trigger_that_is_not_turned_on_starts_nothing(automation: Automation) -> None:
    automation.define("report", Trigger(type="schedule", settings={"cron": "every 10 minutes"}))

    await automation.pass_time(HOUR, step=60)

    assert automation.runs.runs == []


async def test_a_changed_trigger_starts_nothing_until_it_is_turned_on_again(automation: Automation) -> None:
    await automation.schedule("every 10 minutes")
    automation.define("report", Trigger(type="schedule", settings={"cron": "every 5 minutes"}))

    await automation.pass_time(HOUR, step=60)
    assert automation.runs.runs == []

    await automation.turn_on("report")
    await automation.pass_time(300, step=60)
    assert len(automation.runs.runs) == 1


async def test_a_trigger_that_was_turned_off_starts_nothing(automation: Automation) -> None:
    await automation.schedule("every 10 minutes")
    await automation.store.turn_off("report", "schedule")

    await automation.pass_time(HOUR, step=60)

    assert automation.runs.runs == []


@pytest.mark.parametrize(("missed", "started"), [("skip", 0), ("once", 1), ("all", 3)])
async def test_moments_missed_while_no_host_ran_follow_the_setting(
    automation: Automation, missed: str, started: int
) -> None:
    await automation.schedule("hourly at :15", missed=missed, overlap="allow")
    await automation.scheduler.tick()

    automation.clock.turn(3 * HOUR)
    automation.restart()
    await automation.scheduler.tick()
    await automation.pass_time(60, step=10)

    assert len(automation.runs.runs) == started
    assert automation.runs.runs[-1:] == ["report-schedule-20260601T081500Z"][:started]


async def test_missed_moments_are_bounded(automation: Automation) -> None:
    await automation.schedule("* * * * * *", missed="all", most_missed=5, overlap="allow")

    automation.clock.turn(90 * 24 * HOUR)
    automation.restart()
    await automation.scheduler.tick()

    assert len(automation.runs.runs) == 5 + 60


async def test_a_moment_is_on_time_also_if_the_host_was_down_for_seconds(automation: Automation) -> None:
    await automation.schedule("hourly", missed="skip")

    automation.clock.turn(HOUR + 30)
    automation.restart()
    await automation.scheduler.tick()

    assert automation.runs.runs == ["report-schedule-20260601T070000Z"]


@pytest.mark.parametrize(("overlap", "started"), [("skip", 1), ("queue", 1), ("allow", 3)])
async def test_a_run_that_is_still_active_holds_back_the_next(
    automation: Automation, overlap: str, started: int
) -> None:
    await automation.schedule("every 10 minutes", overlap=overlap)

    await automation.pass_time(1800, step=60)

    assert len(automation.runs.runs) == started


async def test_queued_moments_start_one_after_the_other(automation: Automation) -> None:
    await automation.schedule("every 10 minutes", overlap="queue")
    await automation.pass_time(1800, step=60)

    automation.runs.end()
    await automation.pass_time(20, step=10)
    assert len(automation.runs.runs) == 2

    automation.runs.end()
    await automation.pass_time(20, step=10)
    assert len(automation.runs.runs) == 3


async def test_a_skipped_moment_says_why(automation: Automation) -> None:
    await automation.schedule("every 10 minutes", overlap="skip")

    await automation.pass_time(1200, step=60)

    latest = (await automation.starts())[0]
    assert (latest.state, latest.note) == ("skipped", "A run of this trigger was still active.")


async def test_the_queue_of_a_trigger_is_bounded(automation: Automation) -> None:
    await automation.schedule("* * * * * *", overlap="queue")

    await automation.pass_time(400, step=50)

    states = [record.state for record in await automation.starts()]
    assert states.count("pending") <= 200
    assert states.count("skipped") > 100


async def test_a_clock_that_jumps_forward_and_back_starts_nothing_twice(automation: Automation) -> None:
    await automation.schedule("hourly", overlap="allow")
    await automation.pass_time(HOUR, step=60)
    assert automation.runs.runs == ["report-schedule-20260601T070000Z"]

    automation.clock.jump(-2 * HOUR)
    await automation.pass_time(HOUR + 60, step=60)
    assert automation.runs.runs == [
        "report-schedule-20260601T060000Z",
        "report-schedule-20260601T070000Z",
    ]
    await automation.pass_time(2 * HOUR, step=60)
    assert len(automation.runs.runs) == 3


async def test_a_clock_that_was_years_ahead_does_not_stop_a_schedule(automation: Automation) -> None:
    await automation.schedule("hourly", missed="once", overlap="allow")

    automation.clock.jump(5 * 365 * 24 * HOUR)
    await automation.pass_time(10)
    automation.clock.jump(-5 * 365 * 24 * HOUR)
    await automation.pass_time(HOUR, step=60)

    assert "report-schedule-20260601T070000Z" in automation.runs.runs


async def test_two_hosts_start_each_moment_once(automation: Automation) -> None:
    await automation.schedule("every 10 seconds", overlap="allow")
    first, second = automation.scheduler, automation.restart()

    for _ in range(30):
        automation.clock.turn(10.0)
        await first.tick()
        await second.tick()

    assert len(automation.runs.runs) == 30
    assert automation.runs.calls == 30


async def test_a_host_killed_after_the_moment_was_stored_still_starts_it_once(automation: Automation) -> None:
    await automation.schedule("hourly", overlap="allow")
    automation.runs.stop_after_start = True
    with pytest.raises(Stopped):
        await automation.pass_time(HOUR, step=60)

    automation.runs.stop_after_start = False
    automation.restart()
    await automation.pass_time(120, step=10)

    assert automation.runs.runs == ["report-schedule-20260601T070000Z"]
    assert automation.runs.calls == 2
    assert (await automation.starts())[0].state == "started"


async def test_a_start_that_may_succeed_later_is_tried_again(automation: Automation) -> None:
    await automation.schedule("hourly")
    automation.runs.refuse_with = BUSY
    with pytest.raises(type(BUSY)):
        await automation.pass_time(HOUR, step=60)

    automation.runs.refuse_with = None
    await automation.pass_time(20, step=10)

    assert automation.runs.runs == ["report-schedule-20260601T070000Z"]


async def test_a_trigger_of_an_invalid_workflow_pauses_and_goes_on_when_it_is_valid(
    automation: Automation,
) -> None:
    await automation.schedule("every 10 minutes", missed="once")
    automation.invalid = "The node x has no type."
    await automation.pass_time(1500, step=60)
    assert automation.runs.runs == []

    automation.invalid = ""
    await automation.pass_time(20, step=10)

    assert automation.runs.runs == ["report-schedule-20260601T062000Z"]


async def test_daylight_saving_starts_the_skipped_time_once(automation: Automation) -> None:
    automation.clock.jump((-65 * 24 + 17) * HOUR)  # 28 March, 23:00 UTC
    await automation.schedule("daily at 02:30", overlap="allow")

    await automation.pass_time(4 * HOUR, step=60)

    assert automation.runs.runs == ["report-schedule-20260329T010000Z"]


async def test_old_records_are_deleted(automation: Automation) -> None:
    await automation.schedule("every 10 minutes", overlap="allow")
    await automation.pass_time(HOUR, step=60)
    await automation.store.turn_off("report", "schedule")

    automation.clock.turn(40 * 24 * HOUR)
    await automation.scheduler.tick()

    assert await automation.starts() == []


async def test_only_the_latest_failed_starts_keep_their_events(
    automation: Automation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workflow_triggers, "MOST_FAILED", 3)
    automation.runs.refuse_with = UsageError("The input does not fit.")
    await automation.schedule("* * * * * *", overlap="allow")
    await automation.pass_time(5)

    failed = await automation.store.failed("report", "schedule", 10)
    assert [(start.note, start.event is not None) for start in failed] == [
        ("The input does not fit.", kept) for kept in (True, True, True, False, False)
    ]
    assert await automation.store.count_failed("report") == 5
    assert await automation.store.startable(failed[0].run) is not None
    assert await automation.store.startable(failed[4].run) is None
