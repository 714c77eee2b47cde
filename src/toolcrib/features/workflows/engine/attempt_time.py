"""The timeout of one attempt; it stops while the attempt waits for the user, an event or other runs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType


class AttemptTime:
    """An async context manager that raises `TimeoutError` after this many seconds of work."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._timeout = asyncio.timeout(seconds)
        self._waiting = 0

    @property
    def expired(self) -> bool:
        """Whether the time was over, in contrast to a `TimeoutError` of the attempt itself."""
        return self._timeout.expired()

    async def __aenter__(self) -> AttemptTime:
        await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._timeout.__aexit__(kind, error, trace)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Stop the time inside the block."""
        when = self._timeout.when()
        if when is None or self._timeout.expired():
            yield
            return
        loop = asyncio.get_running_loop()
        left = when - loop.time()
        self._timeout.reschedule(None)
        try:
            yield
        finally:
            if not self._timeout.expired():
                self._timeout.reschedule(loop.time() + left)
