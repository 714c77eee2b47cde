"""Checks that a flood got no more of the loop's time than its share, however fast the machine is."""

from __future__ import annotations

import time
from collections import defaultdict

import pytest

from toolcrib.servers.metered import BURST, SHARE, FlowMeter


class Flow:
    """What each server spent on messages that nobody asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._began = time.perf_counter()
        self._spent: defaultdict[FlowMeter, list[float]] = defaultdict(list)
        spend = FlowMeter.spend

        def noted(meter: FlowMeter, seconds: float) -> float:
            self._spent[meter].append(seconds)
            return spend(meter, seconds)

        monkeypatch.setattr(FlowMeter, "spend", noted)

    def check(self) -> None:
        """Reading went on only after each pause; the last piece may have been too large."""
        allowed = BURST + SHARE * (time.perf_counter() - self._began)
        for spent in self._spent.values():
            assert sum(spent) - max(spent) <= allowed
