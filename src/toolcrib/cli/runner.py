"""Runs the coroutine of a command; a signal cancels it, so that everything it opened is closed."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

from toolcrib.cli.error_report import Interrupted

T = TypeVar("T")

SIGNALS = (signal.SIGTERM, signal.SIGHUP)
"""Besides SIGINT, which asyncio's runner handles."""


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """The result of the coroutine; raises `Interrupted` after a signal."""
    with asyncio.Runner() as runner:
        return runner.run(_until_signal(work))


async def _until_signal(work: Coroutine[Any, Any, T]) -> T:
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    received: list[int] = []

    def end(number: int) -> None:
        received.append(number)
        task.cancel()

    for number in SIGNALS:
        loop.add_signal_handler(number, end, number)
    try:
        return await task
    except asyncio.CancelledError:
        if received:
            raise Interrupted(received[0]) from None
        raise
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
