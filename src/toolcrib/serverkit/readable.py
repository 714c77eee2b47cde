"""Structured results with a text for models, which is shorter than their JSON."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any

from toolcrib.serverkit.results import Result, text_result


def readable(function: Callable[..., Awaitable[Any]], render: Callable[[Any], str]) -> Callable[..., Any]:
    """The same tool function, its value as structured content and `render(value)` as text.

    The signature stays, so that the output schema is that of the value.
    """

    @functools.wraps(function)
    async def with_text(**arguments: Any) -> Result:
        value = await function(**arguments)
        return {**text_result(render(value)), "structuredContent": value}

    return with_text
