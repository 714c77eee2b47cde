"""Loads modules beside what is under way, so that the event loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

TURN = 0.0005
"""Seconds after which the loading thread lets the event loop have its turn. Python has ten times that, and a
server takes several turns to start."""


async def preload(*modules: str) -> None:
    """Import these, each with all that it needs, in a thread; the import statement that follows is quick."""
    with _short_turns():
        await asyncio.to_thread(lambda: [import_module(module) for module in modules])


@contextmanager
def _short_turns() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
