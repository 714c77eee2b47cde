"""Cancels tasks and waits for their end; the caller's own cancellation is never mistaken for theirs."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

logger = logging.getLogger(__name__)


async def cancel_and_wait(*futures: asyncio.Future[Any] | None) -> None:
    """Cancel all and wait until they have ended; failures are logged."""
    ending = [future for future in futures if future is not None]
    for future in ending:
        future.cancel()
    if ending:
        await asyncio.wait(ending)
    for future in ending:
        _note_failure(future)


async def end_within(task: asyncio.Task[Any], *seconds: float) -> bool:
    """Cancel a task once for each of these waits until it has ended; False if it never does."""
    for patience in seconds:
        task.cancel()
        await asyncio.wait({task}, timeout=patience)
        if task.done():
            _note_failure(task)
            return True
    return False


async def first_of(*futures: asyncio.Future[Any]) -> None:
    """Wait until one is done, then cancel the others."""
    try:
        await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for future in futures:
            future.cancel()


def being_cancelled() -> bool:
    """Whether the current task was cancelled."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _note_failure(future: asyncio.Future[Any]) -> None:
    error = None if future.cancelled() else future.exception()
    if error is not None:
        logger.error("a task failed while it was cancelled", exc_info=error)
