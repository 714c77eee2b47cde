"""Requests of users end in time, also while the database does not answer; background work goes on waiting."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from toolcrib.features.workflows.engine.database import PATIENCE, Database

P = ParamSpec("P")
T = TypeVar("T")
MAY_HAPPEN = "See whether it took effect in the meantime (toolcrib workflow runs), then try again."
"""DBOS does not give up what it has begun: it may happen when the database is back."""


class HasDatabase(Protocol):
    @property
    def database(self) -> Database: ...


Self = TypeVar("Self", bound=HasDatabase)


@asynccontextmanager
async def in_time(database: Database, hint: str = "") -> AsyncIterator[None]:
    """Raises `DatabaseUnavailable` if the block takes too long."""
    try:
        async with asyncio.timeout(PATIENCE) as limit:
            yield
    except TimeoutError:
        if not limit.expired():
            raise
        raise database.unavailable(hint) from None


def answered_in_time(
    method: Callable[Concatenate[Self, P], Awaitable[T]],
) -> Callable[Concatenate[Self, P], Coroutine[Any, Any, T]]:
    """A method that fails with `DatabaseUnavailable` if the database does not answer in time."""

    @functools.wraps(method)
    async def bounded(self: Self, /, *args: P.args, **kwargs: P.kwargs) -> T:
        async with in_time(self.database, MAY_HAPPEN):
            return await method(self, *args, **kwargs)

    return bounded
