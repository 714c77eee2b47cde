from __future__ import annotations

from toolcrib.tools.definitions import estimate_tokens

SCHEMA = '{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}'


def test_a_small_tool_costs_about_what_a_tokenizer_counts() -> None:
    # o200k counts 41 for {"name":"add","description":"Add two numbers.","parameters":…}.
    assert 33 <= estimate_tokens("add", "Add two numbers.", SCHEMA) <= 49


def test_more_text_costs_more() -> None:
    assert estimate_tokens("add", "Add two numbers. " * 50, SCHEMA) > 180


def test_scripts_beyond_ascii_cost_more_a_character() -> None:
    assert estimate_tokens("x", "数" * 100, "{}") > 2 * estimate_tokens("x", "n" * 100, "{}")
