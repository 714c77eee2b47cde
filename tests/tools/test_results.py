from __future__ import annotations

import copy
from typing import Any

import pytest

from toolcrib.tools.results import CUT_NOTE, cap, value_size

LIMIT = 10_000


class Received(dict[str, Any]):
    wire_bytes = 50_000


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "text": content}


def test_a_result_within_the_limit_passes_untouched() -> None:
    result = {"content": [text("hello")], "structuredContent": {"a": 1}, "unknown": [1]}

    kept, size = cap(result, LIMIT)

    assert kept is result
    assert 0 < size < LIMIT


@pytest.mark.parametrize("letter", ["x", "é", "数", "😀"])
def test_a_long_text_is_cut_and_says_how_much_is_missing(letter: str) -> None:
    result = {"content": [text(letter * 50_000)], "isError": False}
    before = copy.deepcopy(result)

    kept, size = cap(result, LIMIT)

    assert result == before
    assert kept["content"][0]["text"].strip(letter) == ""
    assert 0.9 * LIMIT < len(kept["content"][0]["text"].encode()) <= LIMIT
    assert f"{size:,} bytes" in kept["content"][1]["text"]
    assert kept["_meta"][CUT_NOTE]["bytes"] == size
    assert kept["isError"] is False


def test_structured_content_that_is_too_large_is_dropped_and_named() -> None:
    result = {
        "content": [text("short")],
        "structuredContent": {"rows": list(range(100_000))},
        "isError": True,
    }

    kept, _ = cap(result, LIMIT)

    assert "structuredContent" not in kept
    assert kept["content"][0] == text("short")
    assert "structuredContent" in kept["content"][1]["text"]
    assert kept["_meta"][CUT_NOTE]["dropped"] == ["structuredContent"]
    assert kept["isError"] is True


def test_a_picture_is_kept_whole_or_not_at_all() -> None:
    picture = {"type": "image", "data": "A" * 50_000, "mimeType": "image/png"}
    result = {"content": [picture, text("what it shows")]}

    kept, _ = cap(result, LIMIT)

    assert kept["content"][0] == text("what it shows")
    assert kept["_meta"][CUT_NOTE]["dropped"] == ["image"]


@pytest.mark.parametrize(
    "result",
    [
        {"content": [text("x" * 100) for _ in range(100_000)]},
        {"content": "x" * 1_000_000},
        {"content": [{"type": "y" * 100_000}] * 50},
        {"_meta": {"big": "x" * 1_000_000}},
        {"other": {str(n): "x" * 100 for n in range(10_000)}},
        {"content": [text("x" * 50_000)], "structuredContent": {"a": "x" * 50_000}, "_meta": {"own": 1}},
    ],
)
def test_nothing_is_larger_than_the_limit_and_a_note(result: dict[str, Any]) -> None:
    kept, _ = cap(result, LIMIT)

    assert value_size(kept) < LIMIT + 3000
    assert "cut" in kept["content"][-1]["text"]


def test_a_hint_that_counts_escapes_does_not_cut_what_fits() -> None:
    result = Received(content=[text("数" * 3000)])

    kept, size = cap(result, LIMIT)

    assert kept is result
    assert size < LIMIT
