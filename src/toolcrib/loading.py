"""Loads modules beside what is under way, so that the event loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

TURN = 0.0005
"""Seconds after which a loading thread lets the event loop have its turn. Python has ten times that, and a
server takes several turns to start."""
_under_way: list[float] = []
"""For each load the turns that there were before."""


async def preload(*modules: str) -> None:
    """Import these, each with all that it needs, in a thread; the import statement that follows is quick."""
    missing = [module for module in modules if module not in sys.modules]
    if missing:
        with _short_turns():
            await asyncio.to_thread(lambda: [import_module(module) for module in missing])


@contextmanager
def _short_turns() -> Iterator[None]:
    _under_way.append(_under_way[0] if _under_way else sys.getswitchinterval())
    sys.setswitchinterval(TURN)
    try:
        yield
    finally:
        usual = _under_way.pop()
        if not _under_way:
            sys.setswitchinterval(usual)
