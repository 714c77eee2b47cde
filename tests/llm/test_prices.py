"""What an answer costs is never less than nothing, and writing to a cache has its own price."""

from __future__ import annotations

import pytest

from toolcrib.llm.prices import Price, cost
from toolcrib.llm.providers.anthropic import _MessagesReader, max_tokens
from toolcrib.schema.messages import Usage

MILLION = 1_000_000


def test_what_is_written_to_the_cache_costs_more_than_other_input() -> None:
    usage = Usage(input=3 * MILLION, cached=MILLION, written=MILLION)

    assert cost("anthropic:claude-sonnet-4-5", usage) == pytest.approx(3 + 0.3 + 3.75)


def test_a_price_of_the_settings_may_leave_the_cache_out() -> None:
    usage = Usage(input=3 * MILLION, cached=MILLION, written=MILLION)

    assert cost("mine:x", usage, {"mine:": Price(2, 4)}) == 6.0


def test_counts_that_contradict_each_other_cost_no_less_than_nothing() -> None:
    usage = Usage(input=10, cached=100_000, written=50_000, output=0)

    assert (cost("anthropic:claude-sonnet-4-5", usage) or 0) >= 0


def test_a_count_that_is_told_twice_counts_once() -> None:
    reader = _MessagesReader()
    first = {"input_tokens": 3, "cache_read_input_tokens": 90_000, "cache_creation_input_tokens": 10}
    reader.take({"type": "message_start", "message": {"usage": {**first, "output_tokens": 1}}})
    reader.take({"type": "message_delta", "delta": {}, "usage": {"input_tokens": 3, "output_tokens": 5}})
    reader.take(
        {"type": "message_delta", "delta": {}, "usage": {"cache_read_input_tokens": 0, "output_tokens": 9}}
    )

    usage = reader.builder.usage

    assert (usage.input, usage.cached, usage.written, usage.output) == (90_013, 90_000, 10, 9)
    assert (cost("anthropic:claude-sonnet-4-5", usage) or 0) > 0


@pytest.mark.parametrize(
    ("model", "most"),
    [
        ("claude-3-haiku-20240307", 4096),
        ("claude-3-5-sonnet-latest", 8192),
        ("claude-3-7-sonnet-latest", 32_000),
        ("claude-sonnet-4-5", 32_000),
        ("claude-opus-4-1", 32_000),
        ("glm-4.6", 8192),
    ],
)
def test_each_model_may_answer_as_long_as_it_can(model: str, most: int) -> None:
    assert max_tokens(model) == most
