"""Runs a command's coroutine so that a signal ends it in order: what it opened is closed first."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

from toolcrib.cli.error_report import Interrupted

T = TypeVar("T")

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Besides Ctrl-C, which asyncio's runner sees to."""


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """The result of the coroutine; raises `Interrupted` when a signal ended it."""
    with asyncio.Runner() as runner:
        return runner.run(_heeding_signals(work))


async def _heeding_signals(work: Coroutine[Any, Any, T]) -> T:
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    received: list[int] = []

    def end(number: int) -> None:
        received.append(number)
        task.cancel()

    for one in ENDING:
        loop.add_signal_handler(one, end, one)
    try:
        return await task
    except asyncio.CancelledError:
        if received:
            raise Interrupted(received[0]) from None
        raise
    finally:
        for one in ENDING:
            loop.remove_signal_handler(one)
