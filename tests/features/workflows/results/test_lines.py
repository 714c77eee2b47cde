"""The result of a step in one line: what a reader wants to know first."""

from __future__ import annotations

from typing import Any

import pytest

from toolcrib.features.workflows.results.lines import LONGEST, result_line


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ({"text": "42.0", "data": {"result": 42.0}, "pictures": []}, "42"),
        ({"text": "two\n  lines", "data": None, "pictures": []}, "two lines"),
        ({"text": "", "data": {"total": 3, "rows": [1, 2], "by": {"a": 1}}}, "data = {…}"),
        ({"n": 7, "kind": "large", "list": [1], "none": None}, "n = 7, kind = large, list = 1 item"),
        ({"value": {"total": 3, "rows": [1, 2]}}, "total = 3, rows = 2 items"),
        ({"value": False}, "false"),
        ({"choice": "Approve", "values": {}, "comment": ""}, "Approve"),
        ({"results": [1, None], "count": 2, "failed": 1, "errors": []}, "2 items, 1 failed"),
        ({"outputs": {"sum": 5.0}}, "sum = 5"),
        ({"data": None, "ended": "2027-01-31T08:00:00Z"}, "ended = 2027-01-31T08:00:00Z"),
        ([1, 2], "[1, 2]"),
        ({}, ""),
        (None, ""),
    ],
)
def test_a_result_is_told_in_one_line(value: Any, line: str) -> None:
    assert result_line({"value": value, "inputs": {}}) == line


def test_a_long_result_is_cut() -> None:
    line = result_line({"value": {"text": "word " * 1000}, "inputs": {}})

    assert len(line) == LONGEST
    assert line.endswith("…")


def test_a_step_whose_values_are_not_recorded_tells_none() -> None:
    assert result_line({"value": {"text": "private"}, "inputs": None}) == ""
