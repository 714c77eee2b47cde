from __future__ import annotations

import json
from typing import Any

import pytest

from toolcrib.tools.results import result_size, value_size


class Received(dict[str, Any]):
    wire_bytes = 12_345


@pytest.mark.parametrize(
    "value",
    [
        {"content": [{"type": "text", "text": "hello " * 100}]},
        {"content": [{"type": "text", "text": "数" * 1000}]},
        {"content": [{"type": "text", "text": "x" * 1_000_000 + "é"}]},
        {"structuredContent": {"rows": [{"id": n, "name": f"row {n}"} for n in range(10_000)]}},
        {"structuredContent": {f"key{n}": n for n in range(10_000)}},
        {"structuredContent": {"k" * 100_000: 1}},
    ],
)
def test_the_size_is_close_to_that_of_the_json(value: dict[str, Any]) -> None:
    written = len(json.dumps(value, ensure_ascii=False).encode())

    assert 0.85 * written <= value_size(value) <= 1.15 * written


def test_a_size_that_the_source_knows_is_taken() -> None:
    assert result_size(Received(content=[])) == 12_345


@pytest.mark.parametrize("value", [None, 5, {1: (2, 3)}, {"a": object()}])
def test_any_value_has_a_size(value: Any) -> None:
    assert value_size(value) > 0
