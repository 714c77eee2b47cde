"""What an answer costs is never less than nothing, and writing to a cache has its own price."""

from __future__ import annotations

from datetime import date

import pytest

from toolcrib.agent.chat import Took
from toolcrib.config.settings import PriceSettings
from toolcrib.llm.context import ModelContext
from toolcrib.llm.known_models import KNOWN
from toolcrib.llm.model_limits import ListedLimits, find_traits
from toolcrib.llm.prices import cost
from toolcrib.llm.providers.anthropic import VENDOR, _MessagesReader, max_tokens
from toolcrib.schema.messages import Usage

MILLION = 1_000_000


def test_what_is_written_to_the_cache_costs_more_than_other_input() -> None:
    usage = Usage(input=3 * MILLION, cached=MILLION, written=MILLION)

    assert cost("anthropic:claude-sonnet-4-5", usage) == pytest.approx(3 + 0.3 + 3.75)


def test_a_price_of_the_settings_may_leave_the_cache_out() -> None:
    usage = Usage(input=3 * MILLION, cached=MILLION, written=MILLION)

    assert cost("mine:x", usage, {"mine:": PriceSettings(input=2, output=4)}) == 6.0


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
    "model",
    [
        "anthropic:claude-opus-4-9",
        "anthropic:claude-opus",
        "openai:gpt-5-pro",
        "openai:gpt-5.2-pro",
        "openai:gpt-4.1-nano",
        "openai:gpt-4o-mini-2026",
        "openai:gpt-4o-2024-05-13",
        "gemini:gemini-2.5-flash-image",
        "ollama:gpt-oss:120b-cloud",
        "router:gpt-4o",
    ],
)
def test_a_model_of_another_name_has_no_price(model: str) -> None:
    assert cost(model, Usage(input=1000, output=10)) is None


@pytest.mark.parametrize(
    ("model", "dollars"),
    [
        ("anthropic:claude-opus-4-8", 30),
        ("anthropic:claude-opus-4-1-20250805", 90),
        ("anthropic:claude-opus-5-5", 24),
        ("anthropic:claude-sonnet-5", 12),
        ("openai-responses:gpt-5.2-2025-12-11", 15.75),
        ("gemini:gemini-2.5-flash-lite", 0.5),
    ],
)
def test_a_price_belongs_to_one_model_and_its_dated_versions(model: str, dollars: float) -> None:
    assert cost(model, Usage(input=MILLION, output=MILLION)) == pytest.approx(dollars)


def test_a_long_request_has_its_own_price_or_none() -> None:
    short, long = Usage(input=100_000, output=0), Usage(input=100_001, output=0)

    assert cost("anthropic:claude-haiku-5-5", short) == pytest.approx(0.01)
    assert cost("anthropic:claude-haiku-5-5", long) == pytest.approx(0.05, rel=1e-3)
    assert cost("gemini:gemini-2.5-pro", Usage(input=200_001)) is None


def test_a_price_ends_on_its_last_day_and_an_unknown_cache_has_none() -> None:
    usage = Usage(input=MILLION)

    assert cost("gemini:gemini-3.8-flash", usage, today=date(2026, 12, 31)) == 0.75
    assert cost("gemini:gemini-3.8-flash", usage, today=date(2027, 1, 1)) is None
    assert cost("gemini:gemini-2.5-flash", Usage(input=MILLION, cached=10)) is None


def test_every_price_says_when_it_was_looked_up() -> None:
    prices = [known.price for known in KNOWN.values() if known.price is not None]

    assert prices
    assert all(date.fromisoformat(price.looked_up) for price in prices)


@pytest.mark.parametrize(
    ("model", "most"),
    [
        ("claude-3-haiku-20240307", 4096),
        ("claude-3-5-sonnet-latest", 8192),
        ("claude-3-7-sonnet-latest", 32_000),
        ("claude-sonnet-4-5", 32_000),
        ("claude-opus-4-1", 32_000),
        ("claude-opus-5", 128_000),
        ("claude-opus-5-5-20260922", 128_000),
        ("claude-of-tomorrow", 8192),
        ("glm-4.6", 8192),
    ],
)
async def test_each_model_may_answer_as_long_as_it_can(model: str, most: int) -> None:
    async def ask() -> ListedLimits:
        return ListedLimits()

    traits = await find_traits(ModelContext(environ={}), VENDOR, f"anthropic:{model}", ask, 200_000)

    assert max_tokens(traits) == most
    assert traits.assumed == (most == 8192 and "3-5" not in model)


def test_a_sum_with_an_unknown_cost_is_unknown() -> None:
    used = Usage(input=10, output=1, requests=1)
    known, unknown = Took(usage=used, cost=0.5), Took(usage=used, cost=None)

    assert sum([known, known], Took()).cost == 1.0
    assert sum([known, unknown, known], Took()).cost is None
    assert sum([known, Took(cost=0.0)], Took()).cost == 0.5
