"""Conditions decide as a reader would expect."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from toolcrib.graph.conditions import WORDS, BadPattern, Comparison, Condition, Operator, describe, holds

CONDITION: TypeAdapter[Any] = TypeAdapter(Condition)


def decide(left: Any, operator: str, right: Any = None) -> bool:
    return holds(CONDITION.validate_python({"left": left, "operator": operator, "right": right}))


@pytest.mark.parametrize(
    ("left", "operator", "right", "expected"),
    [
        (1, "equals", 1.0, True),
        ("1", "equals", 1, True),
        ("1", "equals", "1.0", False),
        ("1.0", "not_equals", "1", True),
        (True, "equals", "true", True),
        (True, "equals", 1, False),
        (False, "equals", "", False),
        (None, "equals", None, True),
        (None, "equals", 0, False),
        (None, "not_equals", "x", True),
        ([1, 2], "equals", [1, 2], True),
        (10, "greater_than", 9, True),
        ("10", "greater_than", "9", True),
        ("b", "greater_than", "a", True),
        ("b", "greater_than", 1, False),
        (None, "less_than", 1, False),
        (True, "greater_than", 0, False),
        (3, "greater_or_equal", 3, True),
        (3, "less_or_equal", "3", True),
        ("Hello world", "contains", "lo wo", True),
        ("total 7", "contains", 7, True),
        (["a", 2], "contains", "2", True),
        ({"key": 1}, "contains", "key", True),
        (None, "contains", "x", False),
        ("abc", "contains", None, False),
        (None, "not_contains", "x", True),
        ("  ", "is_empty", None, True),
        (None, "is_empty", None, True),
        ([], "is_empty", None, True),
        (0, "is_empty", None, False),
        (False, "is_not_empty", None, True),
        ("Invoice 2026-11", "matches", r"\d{4}-\d{2}$", True),
        ("Invoice", "matches", r"^\d", False),
        (2026, "matches", "^20", True),
        (None, "matches", ".*", False),
        (10**400, "greater_than", 1.5, True),
        ("9" * 500, "equals", 1, False),
        ("nan", "equals", "nan", True),
    ],
)
def test_values_are_compared_with_light_coercion(
    left: Any, operator: str, right: Any, expected: bool
) -> None:
    assert decide(left, operator, right) is expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"all": [{"left": 1, "operator": "equals", "right": 1}, {"not": False}]}, True),
        ({"all": [True, False]}, False),
        ({"any": [False, {"left": 1, "operator": "is_empty"}]}, False),
        ({"any": [False, True]}, True),
        ({"not": {"any": [False, False]}}, True),
        (True, True),
        (None, False),
        ("true", True),
    ],
)
def test_conditions_are_joined(condition: Any, expected: bool) -> None:
    assert holds(CONDITION.validate_python(condition)) is expected


@pytest.mark.parametrize(
    "condition",
    [
        {"left": 1, "operator": "is"},
        {"left": 1, "operator": "matches", "right": "("},
        {"left": 1, "operator": "matches", "right": "(?=x)"},
        {"left": 1, "operator": "matches", "right": "a" * 1001},
        {"all": []},
        {"all": [], "any": []},
        {"all": {"left": 1}},
        {"not": [1]},
        {"left": 1, "rigth": 2},
        "maybe",
        [],
    ],
)
def test_anything_else_is_refused(condition: Any) -> None:
    with pytest.raises(ValidationError):
        CONDITION.validate_python(condition)


def test_a_pattern_that_would_take_for_ages_takes_linear_time() -> None:
    assert decide("a" * 50_000 + "!", "matches", "^(a+)+$") is False


def test_a_pattern_from_a_reference_is_checked_when_it_is_used() -> None:
    with pytest.raises(BadPattern, match="not a supported regular expression"):
        holds(Comparison.model_construct(left="x", operator="matches", right="("))


@pytest.mark.parametrize("operator", get_args(Operator))
@pytest.mark.parametrize("left", [5, 42.0, "", "ab", None, [], ["ab"], True])
def test_a_reason_says_what_is_the_case_for_every_operator(operator: Operator, left: Any) -> None:
    reason = describe(Comparison(left=left, operator=operator, right="a"))

    turned = {
        "equals": "not_equals",
        "contains": "not_contains",
        "is_empty": "is_not_empty",
        **{"not_equals": "equals", "not_contains": "contains", "is_not_empty": "is_empty"},
    }
    said = [*WORDS.values(), "is not greater than", "is not less than", "is not at least", "is not at most"]
    assert any(f" {words}" in reason for words in [*said, "does not match the pattern"])
    if operator in turned:
        assert reason == describe(Comparison(left=left, operator=turned[operator], right="a"))


LONG = "x" * 500


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ({"left": 42.0, "operator": "greater_than", "right": 10}, "42 is greater than 10"),
        ({"left": 5, "operator": "greater_than", "right": 10}, "5 is not greater than 10"),
        ({"left": "ab", "operator": "matches", "right": "^b"}, "“ab” does not match the pattern “^b”"),
        ({"left": "  ", "operator": "is_empty"}, "the value is empty"),
        ({"left": None, "operator": "equals", "right": 1}, "no value is not 1"),
        ({"left": LONG, "operator": "contains", "right": "x"}, "a text of 500 characters contains “x”"),
        ({"left": [LONG], "operator": "is_empty"}, "a list of 1 items is not empty"),
        ({"left": {"a": LONG}, "operator": "is_empty"}, "an object with 1 fields is not empty"),
        (True, "the value is true"),
        (None, "the value is not true"),
        ({"not": {"left": 1, "right": 2}}, "1 is not 2"),
        ({"all": [{"left": 1, "right": 1}, {"left": 1, "right": 2}]}, "1 is not 2"),
        ({"any": [{"left": 1, "right": 1}, {"left": 1, "right": 2}]}, "1 is 1"),
        ({"all": [{"left": n, "right": n} for n in range(5)]}, "0 is 0 and 1 is 1 and 2 is 2 and 2 more"),
    ],
)
def test_a_reason_names_the_comparisons_that_decide(condition: Any, reason: str) -> None:
    assert describe(CONDITION.validate_python(condition)) == reason
