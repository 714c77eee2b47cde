"""Jumps of the clock: nothing is deleted by age while its time may be wrong."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from toolcrib.clock import may_have_jumped
from toolcrib.features.workflows.artifacts import RunArtifacts

DAY = 86_400.0
DAILY = [day * DAY for day in range(1000, 1100)]


@pytest.mark.parametrize(
    ("times", "now", "jumped"),
    [
        (DAILY, 1100 * DAY, False),
        (DAILY, 1500 * DAY, True),
        ([*DAILY, 1500 * DAY], 1501 * DAY, True),
        ([*DAILY, *(day * DAY for day in range(1500, 1540))], 1540 * DAY, False),
        (DAILY, -2000 * DAY, False),
        ([], 1100 * DAY, False),
    ],
    ids=["right", "ahead", "ahead and used", "used for long", "behind", "unused"],
)
def test_a_long_gap_before_now_may_be_a_jump(times: list[float], now: float, jumped: bool) -> None:
    assert may_have_jumped(times, now) is jumped


def test_the_files_of_runs_survive_a_clock_that_is_ahead(tmp_path: Path) -> None:
    for days in range(3):
        folder = tmp_path / f"run-{days}"
        folder.mkdir()
        (folder / "file").write_bytes(b"x")
        os.utime(folder, (time.time() - (400 + days) * DAY,) * 2)
    artifacts = RunArtifacts(tmp_path)
    artifacts.trim(days=30, total=1000)
    assert len(list(tmp_path.iterdir())) == 3
    artifacts.trim(days=30, total=1)
    assert [path.name for path in tmp_path.iterdir()] == ["run-0"]
