"""The budget of what a server sends unasked."""

from __future__ import annotations

from toolcrib.servers.metered import BURST, CALM, SHARE, FlowMeter


class Meter:
    """A meter with a clock in the hands of the test."""

    def __init__(self) -> None:
        self.now = 0.0
        self.reports: list[bool] = []
        self.meter = FlowMeter(self.reports.append, clock=lambda: self.now)

    def spend(self, seconds: float) -> float:
        return self.meter.spend(seconds)


def test_a_burst_within_the_budget_is_not_paused() -> None:
    flow = Meter()
    assert flow.spend(BURST) == 0
    assert flow.reports == []


def test_work_beyond_the_budget_is_paused_until_it_is_earned() -> None:
    flow = Meter()
    flow.spend(BURST)
    pause = flow.spend(0.01)
    assert pause > 0
    assert abs(pause - 0.01 / SHARE) < 1e-9
    assert flow.reports == [True]
    flow.now += pause
    assert flow.spend(0) == 0


def test_a_flood_gets_its_share_of_time_and_no_more() -> None:
    flow = Meter()
    worked = 0.0
    while flow.now < 60:
        flow.now += 0.001
        worked += 0.001
        flow.now += flow.spend(0.001)
    assert worked <= BURST + 61 * SHARE


def test_it_is_reported_once_and_taken_back_after_a_calm_time() -> None:
    flow = Meter()
    for _ in range(5):
        flow.now += flow.spend(BURST)
    assert flow.reports == [True]
    flow.now += CALM + 1
    flow.spend(0.001)
    assert flow.reports == [True, False]
