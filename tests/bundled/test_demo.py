"""The tools that people try first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from toolcrib.bundled.demo import create
from toolcrib.errors import UsageError

NINE_HOURS = timedelta(hours=9)


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


@pytest.mark.parametrize(
    ("a", "b", "text", "number"),
    [
        (17, 23, "391", 391.0),
        (0.1, 3, "0.3", 0.3),
        (-2, 0.5, "-1", -1.0),
        (0, -5, "0", 0.0),
        (123456789.25, 4, "493827157", 493827157.0),
    ],
)
async def test_a_product_is_that_of_the_numbers_as_written(
    a: float, b: float, text: str, number: float
) -> None:
    result = await called("multiply", a, b)
    assert text_of(result) == text
    assert result["structuredContent"] == {"result": number}


async def test_what_is_beyond_all_numbers_is_an_error() -> None:
    for tool, what in (("add", "sum"), ("multiply", "product")):
        result = await called(tool, 1.7e308, 1.7e308)
        assert result["isError"] is True
        assert f"The {what} is too large" in text_of(result)


async def test_the_time_is_told_of_a_zone_and_of_this_computer() -> None:
    clock = create([]).tools["current_time"]
    before = datetime.now(UTC).replace(microsecond=0)
    tokyo, here = await clock.call({"timezone": "Asia/Tokyo"}), await clock.call({})
    after = datetime.now(UTC)

    told = [datetime.fromisoformat(result["structuredContent"]["result"]) for result in (tokyo, here)]
    assert all(before <= moment <= after for moment in told)
    assert told[0].utcoffset() == NINE_HOURS
    assert told[1].utcoffset() == datetime.now().astimezone().utcoffset()
    assert text_of(tokyo).endswith(f"{told[0]:%H:%M} (UTC+09:00)")


@pytest.mark.parametrize("zone", ["Nowhere/Land", "../../etc/passwd", "/etc/localtime", "\0"])
async def test_a_zone_that_does_not_exist_is_a_clear_error(zone: str) -> None:
    result = await create([]).tools["current_time"].call({"timezone": zone})
    assert result["isError"] is True
    assert "There is no time zone" in text_of(result)


@pytest.mark.parametrize("value", ["nan", "inf", float("nan"), float("-inf"), "five", None, [1]])
async def test_what_is_no_number_is_refused_by_name(value: Any) -> None:
    for tool in ("add", "multiply", "divide"):
        result = await called(tool, 1, value)
        assert result["isError"] is True
        assert "b: Input should be a" in text_of(result)


def test_it_takes_no_arguments() -> None:
    with pytest.raises(UsageError):
        create(["x"])
