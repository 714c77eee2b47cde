"""Waits before a vendor that is busy or broke off is asked again, and tells whoever wants to know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from toolcrib.errors import ModelError
from toolcrib.llm.context import ModelContext

LONGEST_WAIT = 60.0
"""A vendor that wants to be left alone for longer is not waited for."""
_FIRST_WAIT = 1.0
OnWait = Callable[[ModelError, float], None]
"""Called with what the vendor said and the seconds until it is asked again."""

_listener: ContextVar[OnWait | None] = ContextVar("toolcrib-vendor-wait", default=None)


@contextmanager
def hearing_of_waits(listener: OnWait) -> Iterator[None]:
    """Whatever is started in this block tells the listener, also after the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell_of_wait(error: ModelError, seconds: float) -> None:
    """A vendor is asked again after so many seconds."""
    listener = _listener.get()
    if listener is not None:
        listener(error, seconds)


class Patience:
    """The retries of one request."""

    def __init__(self, context: ModelContext) -> None:
        self._clock = context.clock
        self._left = context.retries
        self._wait = _FIRST_WAIT

    async def wait(self, error: ModelError) -> None:
        """Wait before the next attempt; raises the error when there is none."""
        asked = getattr(error, "wait", None)
        pause = self._wait if asked is None else asked
        if not self._left or pause > LONGEST_WAIT:
            raise error
        self._left -= 1
        self._wait *= 4
        tell_of_wait(error, pause)
        await self._clock.sleep(pause)
