"""Four tools to try things out with: a sum, a product, a quotient to 50 decimal places, and the time.

They compute with decimal numbers as written, so that 0.1 + 0.2 is 0.3. A quotient always has
exactly 50 decimal places, trailing zeros included, rounded half to even.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal, localcontext
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from toolcrib.errors import UsageError
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.results import text_result
from toolcrib.serverkit.server import ToolServer
from toolcrib.serverkit.stdio import serve
from toolcrib.version import __version__

USAGE = """
usage: python -m toolcrib.bundled.demo

An MCP server on stdin and stdout with four tools: add(a, b), multiply(a, b), divide(a, b) and
current_time(timezone). It takes no arguments.
"""
PLACES = 50
PRECISION = 1000
"""Digits to compute with: a quotient of two floats has at most 633 before the point, and 50 after it."""


def create(arguments: Sequence[str] = ()) -> ToolServer:
    """The server; it takes no arguments."""
    if arguments:
        raise UsageError(f"demo takes no arguments, got {' '.join(arguments)!r}.", hint="Remove them.")
    server = ToolServer("demo", __version__, "Arithmetic and the time, to try out how tools are called.")
    traits: Any = {"read_only": True, "open_world": False, "quick": True}
    server.tool(title="Add", idempotent=True, **traits)(add)
    server.tool(title="Multiply", idempotent=True, **traits)(multiply)
    server.tool(title="Divide", idempotent=True, **traits)(divide)
    server.tool(title="Current time", **traits)(current_time)
    return server


def add(a: Annotated[float, "The first number"], b: Annotated[float, "The second number"]) -> dict[str, Any]:
    """Add two numbers. Returns their sum."""
    with localcontext(prec=PRECISION):
        return _number_result("sum", _decimal(a) + _decimal(b))


def multiply(
    a: Annotated[float, "The first number"], b: Annotated[float, "The second number"]
) -> dict[str, Any]:
    """Multiply two numbers. Returns their product."""
    with localcontext(prec=PRECISION):
        return _number_result("product", _decimal(a) * _decimal(b))


def _number_result(name: str, value: Decimal) -> dict[str, Any]:
    if not math.isfinite(float(value)):
        raise ToolFailure(f"The {name} is too large for a floating-point number.")
    text = f"{value or Decimal(0):f}"  # without an exponent, and not -0
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return {**text_result(text), "structuredContent": {"result": float(value)}}


def divide(
    a: Annotated[float, "The number to divide"], b: Annotated[float, "The number to divide by, not zero"]
) -> dict[str, Any]:
    """Divide a by b. Returns the quotient to exactly 50 decimal places."""
    if b == 0:
        raise ToolFailure(f"Cannot divide {a:.15g} by zero.", "Use a divisor other than 0.")
    with localcontext(prec=PRECISION):
        quotient = (_decimal(a) / _decimal(b)).quantize(Decimal(1).scaleb(-PLACES))
    text = f"{abs(quotient) if quotient.is_zero() else quotient:f}"
    return {**text_result(text), "structuredContent": {"result": text}}


def current_time(
    timezone: Annotated[str, "A name such as Europe/Paris; empty for this computer's"] = "",
) -> dict[str, Any]:
    """Tell the date and the time of day, with the offset from UTC."""
    now = datetime.now(_zone(timezone)) if timezone else datetime.now().astimezone()
    exact = now.isoformat(timespec="seconds")
    text = f"{now:%A}, {now.day} {now:%B %Y, %H:%M} (UTC{exact[19:]})"
    return {**text_result(text), "structuredContent": {"result": exact}}


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (LookupError, OSError, ValueError):
        hint = "Use a name such as Europe/Paris, or leave it out."
        raise ToolFailure(f"There is no time zone {name!r}.", hint) from None


def _decimal(number: float) -> Decimal:
    return Decimal(repr(number))


if __name__ == "__main__":
    serve(create, USAGE)
