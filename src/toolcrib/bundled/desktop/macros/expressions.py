"""A small language for values in macros: `count + 1`, `upper(name) == "ADA"`, `"yes" if total > 3 else "no"`.
Has its operators and functions, limits for texts and numbers, and what counts as false.

Texts, whole and decimal numbers, `true` and `false`; `+ - * / // %`, comparisons, `in`, `and or not`,
`… if … else …`, variables, and the functions below. Python's parser reads it, but only these parts are
computed: there are no attributes, indexes, assignments or other calls, and every size has a limit.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolcrib.bundled.desktop.records import as_text
from toolcrib.serverkit.context import ToolFailure
from toolcrib.suggestions import did_you_mean

Value = str | int | float | bool
MAX_LENGTH = 500
MAX_RESULT = 20_000
LARGEST = 10**15
_OPERATORS: dict[type[ast.operator | ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def evaluate(expression: str, variables: Mapping[str, Value]) -> Value:
    """Raises `ToolFailure` with what is wrong."""
    if len(expression) > MAX_LENGTH:
        raise ToolFailure(f"An expression has at most {MAX_LENGTH} characters.")
    try:
        return _value(ast.parse(expression.strip(), mode="eval").body, variables)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ToolFailure(f"{expression!r} is not a valid expression.") from None
    except (TypeError, ZeroDivisionError, OverflowError) as error:
        raise ToolFailure(f"{expression!r} cannot be computed: {error}.") from None


def _value(node: ast.expr, variables: Mapping[str, Value]) -> Value:
    def of(part: ast.expr) -> Value:
        return _value(part, variables)

    match node:
        case ast.Constant(str() | int() | float() as value):
            return _limited(value)
        case ast.Constant():
            raise ToolFailure("Expressions consist of texts, numbers, true and false.")
        case ast.Name(name):
            return _limited(_variable(name, variables))
        case ast.BinOp(left, ast.Add(), right):
            return _limited(_plus(of(left), of(right)))
        case ast.BinOp(left, kind, right):
            return _limited(_number_of(_operator(kind)(_number(of(left)), _number(of(right)))))
        case ast.UnaryOp(ast.Not(), part):
            return not is_true(of(part))
        case ast.UnaryOp(ast.USub(), part):
            return _number_of(-_number(of(part)))
        case ast.UnaryOp(kind):
            raise _refused(kind)
        case ast.BoolOp(kind, parts):  # stops at the first that decides, so that the others may be impossible
            wanted = isinstance(kind, ast.Or)
            return wanted if any(is_true(of(part)) is wanted for part in parts) else not wanted
        case ast.Compare(first, kinds, parts):
            return _is_ordered(of(first), kinds, map(of, parts))
        case ast.IfExp(test, then, otherwise):
            return of(then if is_true(of(test)) else otherwise)
        case ast.Call(ast.Name(name), parts, []) if name in FUNCTIONS:
            return _limited(FUNCTIONS[name](*map(of, parts)))
        case ast.Call(called):
            name = called.id if isinstance(called, ast.Name) else ""
            hint = did_you_mean(name, [*FUNCTIONS])
            raise ToolFailure(f"There is no function {name!r} in expressions.", hint)
    raise _refused(node)


def _variable(name: str, variables: Mapping[str, Value]) -> Value:
    if name.lower() in ("true", "false"):
        return name.lower() == "true"
    if name not in variables:
        raise unknown_variable(name, variables)
    return variables[name]


def _is_ordered(left: Value, kinds: Iterable[ast.cmpop], parts: Iterable[Value]) -> bool:
    for kind, right in zip(kinds, parts, strict=True):
        if not _holds(kind, left, right):
            return False
        left = right
    return True


def _operator(kind: ast.operator | ast.cmpop) -> Callable[[Any, Any], Any]:
    if type(kind) not in _OPERATORS:
        raise _refused(kind)
    return _OPERATORS[type(kind)]


def _refused(node: ast.AST) -> ToolFailure:
    return ToolFailure(f"Expressions cannot contain {type(node).__name__}.")


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "length": lambda value: len(text_of(value)),
    "lower": lambda value: text_of(value).lower(),
    "upper": lambda value: text_of(value).upper(),
    "trim": lambda value: text_of(value).strip(),
    "join": lambda *values: "".join(map(text_of, values)),
    "number": lambda value: _number_of(_number(value)),
    "round": lambda value: round(_number(value)),
    "replace": lambda value, old, new: _replaced(text_of(value), text_of(old), text_of(new)),
    "starts_with": lambda value, start: text_of(value).startswith(text_of(start)),
    "ends_with": lambda value, end: text_of(value).endswith(text_of(end)),
    "part": lambda value, start, end: text_of(value)[int(_number(start)) : int(_number(end))],
    "min": lambda *values: _number_of(min(map(_number, values))),
    "max": lambda *values: _number_of(max(map(_number, values))),
}
"""What expressions can call."""


def unknown_variable(name: str, variables: Mapping[str, Value]) -> ToolFailure:
    return ToolFailure(f"There is no variable {name!r}.", did_you_mean(name, list(variables)))


def text_of(value: Value) -> str:
    return str(as_text(value))


def is_true(value: Value) -> bool:
    """The texts `false`, `no`, `0` and the empty one count as false."""
    if isinstance(value, str):
        return value.strip().casefold() not in ("", "0", "false", "no")
    return bool(value)


def _number(value: Value) -> float | int:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        return value
    try:
        return _number_of(float(value))
    except ValueError:
        raise TypeError(f"{value[:40]!r} is not a number") from None


def _number_of(value: float) -> float | int:
    """A whole number if it is one, so that 6 / 2 is 3."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _plus(left: Value, right: Value) -> Value:
    """Numbers are added; a text that is no number joins what is beside it."""
    try:
        return _number_of(_number(left) + _number(right))
    except TypeError:
        return text_of(left) + text_of(right)


def _holds(kind: ast.cmpop, left: Value, right: Value) -> bool:
    """Numbers compare as numbers even if one is a text; all else compares as text."""
    if isinstance(kind, ast.In | ast.NotIn):
        return (text_of(left) in text_of(right)) is isinstance(kind, ast.In)
    compare = _operator(kind)
    try:
        return bool(compare(_number(left), _number(right)))
    except TypeError:
        return bool(compare(text_of(left), text_of(right)))


def _replaced(text: str, old: str, new: str) -> str:
    if not old or len(text) * (len(new) + 1) > MAX_RESULT:
        raise ToolFailure("The texts of replace() are too long, or the one to replace is empty.")
    return text.replace(old, new)


def _limited(value: Value) -> Value:
    if isinstance(value, str) and len(value) > MAX_RESULT:
        raise ToolFailure(f"A text in an expression is longer than {MAX_RESULT} characters.")
    if not isinstance(value, str) and abs(value) > LARGEST:
        raise ToolFailure(f"A number in an expression is larger than {LARGEST}.")
    return value
