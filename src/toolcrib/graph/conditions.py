"""Conditions over values: operators (equals, greater_than, contains, is_empty, matches), joined by `all`,
`any` and `not`. Decides how numbers, booleans and texts are compared, and the limits of regular expressions.

They are evaluated after their references were replaced. A missing value is null. Numbers and numeric texts
are compared as numbers, booleans and "true" or "false" as booleans.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from toolcrib.errors import UsageError
from toolcrib.graph.node_settings import NodeSettings
from toolcrib.graph.references import has_reference

if TYPE_CHECKING:
    import jsonschema_rs

Operator = Literal[
    "equals",
    "not_equals",
    "greater_than",
    "less_than",
    "greater_or_equal",
    "less_or_equal",
    "contains",
    "not_contains",
    "is_empty",
    "is_not_empty",
    "matches",
]
UNARY = frozenset({"is_empty", "is_not_empty"})
"""Operators that do not use the right value."""
WORDS: Mapping[Operator, str] = {
    "equals": "is",
    "not_equals": "is not",
    "greater_than": "is greater than",
    "less_than": "is less than",
    "greater_or_equal": "is at least",
    "less_or_equal": "is at most",
    "contains": "contains",
    "not_contains": "does not contain",
    "is_empty": "is empty",
    "is_not_empty": "is not empty",
    "matches": "matches the pattern",
}
"""The operators as users read them."""
_DENIED: Mapping[Operator, str] = {
    "equals": WORDS["not_equals"],
    "not_equals": WORDS["equals"],
    "greater_than": "is not greater than",
    "less_than": "is not less than",
    "greater_or_equal": "is not at least",
    "less_or_equal": "is not at most",
    "contains": WORDS["not_contains"],
    "not_contains": WORDS["contains"],
    "is_empty": WORDS["is_not_empty"],
    "is_not_empty": WORDS["is_empty"],
    "matches": "does not match the pattern",
}
"""What is said of a comparison that is not true."""
LONGEST_SHOWN = 120
"""Characters of a value in a reason; of a longer one only its size is told. A part of it could be a part of a
secret input, which is hidden only where it is whole."""
MOST_REASONS = 3
"""Comparisons in a reason."""
LONGEST_PATTERN = 1000
LONGEST_TEXT = 1_000_000


class BadPattern(UsageError):
    """A regular expression is not valid or too large."""

    kind = "bad_pattern"


class Comparison(NodeSettings):
    """Compares two values."""

    left: Any = Field(default=None, description="The value to look at, usually a reference.")
    operator: Operator = "equals"
    right: Any = Field(default=None, description="What it is compared with; not used by is_empty.")

    @model_validator(mode="after")
    def _check_pattern(self) -> Comparison:
        if self.operator == "matches" and isinstance(self.right, str) and not has_reference(self.right):
            try:
                _pattern(self.right)
            except BadPattern as error:
                raise ValueError(error.message) from None
        return self


class AllConditions(NodeSettings):
    """Holds if every condition holds."""

    all: list[Condition] = Field(min_length=1, max_length=50)


class AnyCondition(NodeSettings):
    """Holds if at least one condition holds."""

    any: list[Condition] = Field(min_length=1, max_length=50)


class NotCondition(NodeSettings):
    """Holds if the condition does not."""

    not_: Condition = Field(alias="not")


def _form(value: Any) -> str:
    if value is None or isinstance(value, bool | str | int | float):
        return "<value>"
    keys = value if isinstance(value, Mapping) else dict(value) if isinstance(value, NodeSettings) else {}
    for key, tag in (("all", "<all>"), ("any", "<any>"), ("not", "<not>"), ("not_", "<not>")):
        if key in keys:
            return tag
    return "<comparison>"


Condition = Annotated[
    Annotated[bool | None, Tag("<value>")]
    | Annotated[Comparison, Tag("<comparison>")]
    | Annotated[AllConditions, Tag("<all>")]
    | Annotated[AnyCondition, Tag("<any>")]
    | Annotated[NotCondition, Tag("<not>")],
    Discriminator(_form),
]
"""`{left, operator, right}`, `{all: […]}`, `{any: […]}`, `{not: …}`, or true or false by a reference."""
AnyForm = bool | Comparison | AllConditions | AnyCondition | NotCondition | None

AllConditions.model_rebuild()
AnyCondition.model_rebuild()
NotCondition.model_rebuild()


def holds(condition: AnyForm) -> bool:
    """Whether a condition without references holds."""
    if condition is None or isinstance(condition, bool):
        return condition is True
    if isinstance(condition, AllConditions):
        return all(holds(part) for part in condition.all)
    if isinstance(condition, AnyCondition):
        return any(holds(part) for part in condition.any)
    if isinstance(condition, NotCondition):
        return not holds(condition.not_)
    return _OPERATORS[condition.operator](condition.left, condition.right)


def describe(condition: AnyForm) -> str:
    """Why a condition is true or is not: the comparisons that decide it, each as what is the case."""
    reasons = [_fact(part) for part in _deciding(condition)]
    more = len(reasons) - MOST_REASONS
    shown = reasons if more < 1 else [*reasons[:MOST_REASONS], f"{more} more"]
    return " and ".join(shown)


def _deciding(condition: AnyForm) -> list[Comparison | bool | None]:
    if isinstance(condition, NotCondition):
        return _deciding(condition.not_)
    if not isinstance(condition, AllConditions | AnyCondition):
        return [condition]
    parts = condition.all if isinstance(condition, AllConditions) else condition.any
    result = holds(condition)
    return [reason for part in parts if holds(part) is result for reason in _deciding(part)]


def _fact(part: Comparison | bool | None) -> str:
    if not isinstance(part, Comparison):
        return "the value is true" if part is True else "the value is not true"
    words = (WORDS if holds(part) else _DENIED)[part.operator]
    if part.operator in UNARY:
        return f"{'the value' if _is_empty(part.left) else _shown(part.left)} {words}"
    return f"{_shown(part.left)} {words} {_shown(part.right)}"


def _shown(value: Any) -> str:
    if value is None:
        return "no value"
    whole = int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value
    text = _written(whole)
    if len(text) <= LONGEST_SHOWN:
        return f"“{text}”" if isinstance(value, str) else text
    if isinstance(value, Mapping):
        return f"an object with {len(value):,} fields"
    if isinstance(value, list | tuple):
        return f"a list of {len(value):,} items"
    return f"a text of {len(text):,} characters"


def _equals(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return _as_boolean(left) is not None and _as_boolean(left) == _as_boolean(right)
    numbers = _numbers(left, right)
    if numbers is not None and not (isinstance(left, str) and isinstance(right, str)):
        return bool(numbers[0] == numbers[1])
    return bool(left == right)


def _compare(holds_for: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """An order of two numbers, or else of two texts; values of other types have none."""

    def compare(left: Any, right: Any) -> bool:
        numbers = _numbers(left, right)
        if numbers is not None:
            return holds_for(*numbers)
        return isinstance(left, str) and isinstance(right, str) and holds_for(left, right)

    return compare


def _contains(left: Any, right: Any) -> bool:
    if isinstance(left, str):
        return right is not None and _written(right) in left
    if isinstance(left, Mapping):
        return right in left if isinstance(right, str) else False
    if isinstance(left, list | tuple):
        return any(_equals(item, right) for item in left)
    return False


def _is_empty(left: Any, right: Any = None) -> bool:
    if isinstance(left, str):
        return not left.strip()
    return left is None or (isinstance(left, Mapping | list | tuple) and not left)


def _matches(left: Any, right: Any) -> bool:
    if left is None or not isinstance(right, str):
        return False
    return bool(_pattern(right).is_valid(_written(left)[:LONGEST_TEXT]))


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "equals": _equals,
    "not_equals": lambda left, right: not _equals(left, right),
    "greater_than": _compare(lambda left, right: left > right),
    "less_than": _compare(lambda left, right: left < right),
    "greater_or_equal": _compare(lambda left, right: left >= right),
    "less_or_equal": _compare(lambda left, right: left <= right),
    "contains": _contains,
    "not_contains": lambda left, right: not _contains(left, right),
    "is_empty": _is_empty,
    "is_not_empty": lambda left, right: not _is_empty(left),
    "matches": _matches,
}


def _numbers(left: Any, right: Any) -> tuple[float, float] | None:
    first, second = _as_number(left), _as_number(right)
    return None if first is None or second is None else (first, second)


def _as_number(value: Any) -> int | float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    if not isinstance(value, str) or len(value) > 400 or "_" in value:
        return None
    try:
        return float(value) if not value.strip().lstrip("+-").isdigit() else int(value)
    except ValueError:
        return None


def _as_boolean(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    words = {"true": True, "false": False}
    return words.get(value.strip().lower()) if isinstance(value, str) else None


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


@lru_cache(maxsize=256)
def _pattern(pattern: str) -> jsonschema_rs.Validator:
    """A compiled regular expression; its engine takes linear time, whatever the pattern."""
    import jsonschema_rs

    if len(pattern) > LONGEST_PATTERN:
        raise BadPattern(f"The regular expression has more than {LONGEST_PATTERN} characters.")
    options = jsonschema_rs.RegexOptions(size_limit=1 << 20, dfa_size_limit=1 << 21)
    try:
        return jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=options)
    except ValueError:
        raise BadPattern(
            f"{pattern[:80]!r} is not a supported regular expression.",
            hint="Look-around and back-references are not supported.",
        ) from None
