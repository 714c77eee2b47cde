"""What the groups of tools share: how a tool is offered, with a time limit, and results with a text."""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from toolcrib.bundled.desktop.failures import OperationTimeout
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.results import Image, to_result
from toolcrib.serverkit.server import ToolServer

T = TypeVar("T", bound=Mapping[str, Any])
LONGEST_CALL = 360.0
"""Seconds after which any call ends; most tools have a shorter limit."""


class UnspecifiedFailure(ToolFailure):
    """A failure without a more exact reason."""

    kind = "desktop_failed"
    reason = "FAILED_PRECONDITION"


def answer(data: T, text: str | None = None, *images: Image) -> T:
    """Structured data with a short text for the model, and pictures."""
    shown = text if text is not None else json.dumps(data, ensure_ascii=False)
    result = to_result([*images, shown])
    return cast("T", {**result, "structuredContent": data})


def as_failure(shown: T) -> T:
    """The same answer, marked as an error for the model."""
    return cast("T", {**shown, "isError": True})


class ProfileTools:
    """Adds a tool if the profile has it; `wanted` is None for a profile with all."""

    def __init__(self, server: ToolServer, wanted: frozenset[str] | None) -> None:
        self._server = server
        self._wanted = wanted

    def wants(self, name: str) -> bool:
        return self._wanted is None or name in self._wanted

    def __call__(self, function: Callable[..., Any], title: str, **options: Any) -> None:
        """The options are those of `ToolServer.tool`, and `limit`: the seconds that a call may take."""
        limit = float(options.pop("limit", LONGEST_CALL))
        if self.wants(function.__name__):
            bounded = _bounded(function, limit) if inspect.iscoroutinefunction(function) else function
            self._server.tool(title=title, **options)(bounded)


def _bounded(function: Callable[..., Any], limit: float) -> Callable[..., Any]:
    """The same function, which ends in time and fails with a reason."""

    @functools.wraps(function)
    async def run(*arguments: Any, **named: Any) -> Any:
        try:
            async with asyncio.timeout(limit):
                return await function(*arguments, **named)
        except TimeoutError:
            raise OperationTimeout(
                f"{function.__name__} did not end within {limit:g} s.", "Look at the screen, and try again."
            ) from None
        except ToolFailure as failure:
            if failure.reason:
                raise
            raise UnspecifiedFailure(failure.message, failure.hint) from failure

    return run
