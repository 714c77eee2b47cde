"""A small language for values: `count + 1`, `upper(name) == "ADA"`, `"yes" if total > 3 else "no"`.

Texts, whole and decimal numbers, `true` and `false`; `+ - * / // %`, comparisons, `in`, `and or not`,
`… if … else …`, variables, and the functions below. Python's parser reads it, but only these parts are
computed: there are no attributes, indexes, assignments or other calls, and every size has a limit.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from toolcrib.bundled.desktop.records import as_text
from toolcrib.serverkit.context import ToolFailure
from toolcrib.suggestions import did_you_mean

Value = str | int | float | bool
MAX_LENGTH = 500
MAX_RESULT = 20_000
LARGEST = 10**15
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
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
        parsed = ast.parse(expression.strip(), mode="eval")
        return _limited(_Evaluation(variables).value(parsed.body))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ToolFailure(f"{expression!r} is not a valid expression.") from None
    except (TypeError, ZeroDivisionError, OverflowError) as error:
        raise ToolFailure(f"{expression!r} cannot be computed: {error}.") from None


class _Evaluation:
    def __init__(self, variables: Mapping[str, Value]) -> None:
        self._variables = variables

    def value(self, node: ast.expr) -> Value:
        compute = _NODES.get(type(node))
        if compute is None:
            raise ToolFailure(f"Expressions cannot contain {type(node).__name__}.")
        return _limited(compute(self, node))

    def _constant(self, node: ast.Constant) -> Value:
        if not isinstance(node.value, str | int | float | bool):
            raise ToolFailure("Expressions consist of texts, numbers, true and false.")
        return node.value

    def _name(self, node: ast.Name) -> Value:
        if node.id.lower() in ("true", "false"):
            return node.id.lower() == "true"
        if node.id not in self._variables:
            raise unknown_variable(node.id, self._variables)
        return self._variables[node.id]

    def _binary(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Add):
            return _plus(left, right)
        compute = _ARITHMETIC.get(type(node.op))
        if compute is None:
            raise ToolFailure(f"Expressions cannot contain {type(node.op).__name__}.")
        return _number_of(compute(_number(left), _number(right)))

    def _unary(self, node: ast.UnaryOp) -> Value:
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return not is_true(value)
        if isinstance(node.op, ast.USub):
            return _number_of(-_number(value))
        raise ToolFailure(f"Expressions cannot contain {type(node.op).__name__}.")

    def _logic(self, node: ast.BoolOp) -> Value:
        """Stops at the first part that decides, so that the others may be impossible."""
        wanted = isinstance(node.op, ast.Or)
        return wanted if any(is_true(self.value(part)) is wanted for part in node.values) else not wanted

    def _compare(self, node: ast.Compare) -> Value:
        left = self.value(node.left)
        for kind, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part)
            if not _holds(kind, left, right):
                return False
            left = right
        return True

    def _choice(self, node: ast.IfExp) -> Value:
        return self.value(node.body if is_true(self.value(node.test)) else node.orelse)

    def _call(self, node: ast.Call) -> Value:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in FUNCTIONS or node.keywords:
            raise ToolFailure(
                f"There is no function {name!r} in expressions.", did_you_mean(name, [*FUNCTIONS])
            )
        return FUNCTIONS[name](*(self.value(each) for each in node.args))


_NODES: dict[type[ast.expr], Callable[[_Evaluation, Any], Value]] = {
    ast.Constant: _Evaluation._constant,
    ast.Name: _Evaluation._name,
    ast.BinOp: _Evaluation._binary,
    ast.UnaryOp: _Evaluation._unary,
    ast.BoolOp: _Evaluation._logic,
    ast.Compare: _Evaluation._compare,
    ast.IfExp: _Evaluation._choice,
    ast.Call: _Evaluation._call,
}

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
    compare = _COMPARISONS.get(type(kind))
    if compare is None:
        raise ToolFailure(f"Expressions cannot contain {type(kind).__name__}.")
    try:
        return compare(_number(left), _number(right))
    except TypeError:
        return compare(text_of(left), text_of(right))


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
