"""Replies stay within their budgets of tokens, whatever the titles of windows are."""

from __future__ import annotations

from toolcrib.bundled.desktop.backend import Window
from toolcrib.bundled.desktop.elements.difference import compare_windows, summarise
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.operations.windows import PAGE
from toolcrib.bundled.desktop.window_lookup import describe_window

CHARACTERS_PER_TOKEN = 4


def windows(count: int) -> list[Window]:
    return [
        Window(
            4_294_967_295 - number,
            "long " * 200,
            4_194_304,
            "SomeWindowClass",
            Rect(1000, 1000, 3840, 2160),
            0,
        )
        for number in range(count)
    ]


def test_a_page_of_windows_with_long_titles_has_at_most_two_thousand_tokens() -> None:
    text = "\n".join(describe_window(each) for each in windows(PAGE))
    assert len(text) <= 2000 * CHARACTERS_PER_TOKEN


def test_a_hundred_new_windows_are_reported_in_a_few_lines() -> None:
    lines = summarise(compare_windows([], windows(100)))
    assert len("\n".join(lines)) <= 450 * CHARACTERS_PER_TOKEN
    assert lines[0].startswith("+ window 4294967295")
    assert "more changes" in lines[-1]
