"""Handles many stored rows in a thread, so that a long chat does not hold the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sized
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

FEW = 100
"""Rows that are handled at once: a few milliseconds."""


async def beside_loop(rows: Sized, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """The result of a function that goes through these rows; in a thread if there are many."""
    if len(rows) <= FEW:
        return function(*args, **kwargs)
    return await asyncio.to_thread(function, *args, **kwargs)
