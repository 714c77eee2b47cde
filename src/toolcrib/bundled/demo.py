"""Two tools to try things out with: a sum, and a quotient to 50 decimal places.

Both compute with decimal numbers as written, so that 0.1 + 0.2 is 0.3. A quotient always has
exactly 50 decimal places, trailing zeros included, rounded half to even.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from typing import Annotated, Any

from toolcrib.errors import UsageError
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.results import text_result
from toolcrib.serverkit.server import ToolServer
from toolcrib.serverkit.stdio import serve
from toolcrib.version import __version__

USAGE = """
usage: python -m toolcrib.bundled.demo

An MCP server on stdin and stdout with two tools: add(a, b) and divide(a, b). It takes no arguments.
"""
PLACES = 50
PRECISION = 1000
"""Digits to compute with: a quotient of two floats has at most 633 before the point, and 50 after it."""


def create(arguments: Sequence[str] = ()) -> ToolServer:
    """The server; it takes no arguments."""
    if arguments:
        raise UsageError(f"demo takes no arguments, got {' '.join(arguments)!r}.", hint="Remove them.")
    server = ToolServer("demo", __version__, "Arithmetic, to try out how tools are called.")
    traits: Any = {"read_only": True, "idempotent": True, "open_world": False, "quick": True}
    server.tool(title="Add", **traits)(add)
    server.tool(title="Divide", **traits)(divide)
    return server


def add(a: Annotated[float, "The first number"], b: Annotated[float, "The second number"]) -> dict[str, Any]:
    """Add two numbers. Returns their sum."""
    with localcontext(prec=PRECISION):
        total = _decimal(a) + _decimal(b)
    value = float(total)
    if not math.isfinite(value):
        raise ToolFailure("The sum is too large for a floating-point number.")
    return {**text_result(_shown(total)), "structuredContent": {"result": value}}


def divide(
    a: Annotated[float, "The number to divide"], b: Annotated[float, "The number to divide by, not zero"]
) -> dict[str, Any]:
    """Divide a by b. Returns the quotient to exactly 50 decimal places."""
    if b == 0:
        raise ToolFailure(f"Cannot divide {_shown(_decimal(a))} by zero.", "Use a divisor other than 0.")
    with localcontext(prec=PRECISION):
        quotient = (_decimal(a) / _decimal(b)).quantize(Decimal(1).scaleb(-PLACES))
    text = f"{abs(quotient) if quotient.is_zero() else quotient:f}"
    return {**text_result(text), "structuredContent": {"result": text}}


def _decimal(number: float) -> Decimal:
    return Decimal(repr(number))


def _shown(number: Decimal) -> str:
    """Without an exponent and without zeros that say nothing."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


if __name__ == "__main__":
    serve(create, USAGE)
