"""Keeps background tasks, cancels tasks and waits for their end; the caller's own cancellation is never
mistaken for theirs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")


class TaskSet(set[asyncio.Task[Any]]):
    """The background tasks of one owner; each leaves when it ends."""

    def start(self, work: Coroutine[Any, Any, T], name: str | None = None) -> asyncio.Task[T]:
        task = asyncio.create_task(work, name=name)
        self.add(task)
        task.add_done_callback(self.discard)
        return task


@asynccontextmanager
async def in_background(work: Coroutine[Any, Any, object], name: str) -> AsyncIterator[None]:
    """Run this in a task of its own while the block runs."""
    task = asyncio.create_task(work, name=name)
    try:
        yield
    finally:
        await cancel_and_wait(task)


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
