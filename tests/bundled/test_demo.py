"""The two tools that people try first."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from toolcrib.bundled.demo import create
from toolcrib.errors import UsageError


async def called(tool: str, a: Any, b: Any) -> dict[str, Any]:
    return await create([]).tools[tool].call({"a": a, "b": b})


def text_of(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


@pytest.mark.parametrize(
    ("a", "b", "text", "number"),
    [
        (1, 2, "3", 3.0),
        (0.1, 0.2, "0.3", 0.3),
        (-1.5, 1.5, "0", 0.0),
        ("2", 3, "5", 5.0),
        (1e16, 1, "10000000000000001", 1e16),
        (1e308, -1e308, "0", 0.0),
    ],
)
async def test_a_sum_is_that_of_the_numbers_as_written(a: Any, b: Any, text: str, number: float) -> None:
    result = await called("add", a, b)
    assert text_of(result) == text
    assert result["structuredContent"] == {"result": number}


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        (1, 3, "0." + "3" * 50),
        (2, 3, "0." + "6" * 49 + "7"),
        (10, 4, "2.5" + "0" * 49),
        (-1, 3, "-0." + "3" * 50),
        (0, -5, "0." + "0" * 50),
        (-1e-300, 1, "0." + "0" * 50),
        (0.3, 0.1, "3." + "0" * 50),
    ],
)
async def test_a_quotient_has_exactly_fifty_decimal_places(a: float, b: float, text: str) -> None:
    result = await called("divide", a, b)
    assert text_of(result) == text
    assert result["structuredContent"] == {"result": text}


async def test_the_largest_quotient_is_exact_to_its_last_place() -> None:
    text = text_of(await called("divide", 1.7976931348623157e308, 5e-324))
    assert Decimal(text) == Decimal("1.7976931348623157e308") / Decimal("5e-324")
    assert len(text.partition(".")[2]) == 50


async def test_dividing_by_zero_is_a_clear_error() -> None:
    for zero in (0, 0.0, -0.0):
        result = await called("divide", 1, zero)
        assert result["isError"] is True
        assert "Cannot divide 1 by zero" in text_of(result)


async def test_a_sum_beyond_all_numbers_is_an_error() -> None:
    result = await called("add", 1.7e308, 1.7e308)
    assert result["isError"] is True
    assert "too large" in text_of(result)


@pytest.mark.parametrize("value", ["nan", "inf", float("nan"), float("-inf"), "five", None, [1]])
async def test_what_is_no_number_is_refused_by_name(value: Any) -> None:
    for tool in ("add", "divide"):
        result = await called(tool, 1, value)
        assert result["isError"] is True
        assert "b: Input should be a" in text_of(result)


def test_it_takes_no_arguments() -> None:
    with pytest.raises(UsageError):
        create(["x"])
