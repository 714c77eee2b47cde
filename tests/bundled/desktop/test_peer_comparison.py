"""How the benchmark compares two desktop servers: over the tasks that both did, by ratios."""

from __future__ import annotations

import math
from typing import Any

import pytest

from benchmarks.desktop.contract import PeerFailed
from benchmarks.desktop.peers.computer_control import boxes_of
from benchmarks.desktop.suite import OURS, TASKS, compare, find_peers, table


def _run(done: bool = True, calls: int = 1, cpu_s: float = 1.0) -> dict[str, Any]:
    return {"done": done, "calls": calls, "tokens": 100.0, "cpu_s": cpu_s, "wall_s": 2.0, "problem": ""}


def test_measures_are_compared_over_the_tasks_that_both_did() -> None:
    ours = {"a": [_run(calls=2), _run(calls=2)], "b": [_run(calls=9), _run(calls=9)]}
    theirs = {"a": [_run(calls=8), _run(False, calls=90)], "b": [_run(False), _run(False)]}
    found = compare(ours, theirs)
    assert (found["done"], found["tasks"]) == (0.25, 1)
    assert found["calls"] == pytest.approx(4)
    assert found["tokens"] == pytest.approx(1)


def test_a_task_without_measurable_cpu_time_does_not_decide_the_ratio() -> None:
    found = compare({"a": [_run(cpu_s=0.0)]}, {"a": [_run(cpu_s=0.02)]})
    assert found["cpu_s"] == pytest.approx(2)


def test_without_a_common_task_there_is_no_ratio() -> None:
    found = compare({"a": [_run()]}, {"a": [_run(False)], "b": [_run()]})
    assert (found["done"], found["tasks"]) == (1, 0)
    assert math.isnan(found["cpu_s"])


def test_the_table_names_ratios_failures_and_peers_that_cannot_be_installed() -> None:
    shown = table(
        {
            OURS: {"title": "ours", "tasks": {"a": [_run()]}},
            "other": {"title": "other", "tasks": {"a": [_run(calls=3)], "b": [_run(False)]}},
            "absent": {"title": "absent", "tasks": {}, "unavailable": "no wheel"},
        }
    )
    assert "3.00x" in shown
    assert "no wheel" in shown
    assert "1 failed" in shown


def test_every_script_of_a_peer_belongs_to_a_task_that_is_measured() -> None:
    peers = find_peers()
    assert set(TASKS) <= set(peers[OURS].SCRIPTS)
    for name, peer in peers.items():
        assert name == OURS or set(peer.SCRIPTS) <= set(TASKS), name


def test_what_a_peer_read_on_the_screen_is_understood() -> None:
    reply = "([[1.0, 2.0], [9.0, 2.0]], 'it\\'s [OK]', 0.9),\n([[0.0, 0.0]], 'No', 0.8)"
    assert [text for _, text, _ in boxes_of(reply)] == ["it's [OK]", "No"]
    assert boxes_of("No text found") == []
    with pytest.raises(PeerFailed):
        boxes_of("Error in screenshot or getting UI elements: no display")
