"""Tells whoever wants to know that a vendor is busy and will be asked again; each task hears of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from toolcrib.errors import ModelError

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
