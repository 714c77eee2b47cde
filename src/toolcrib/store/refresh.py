"""Reads a table again after another host changed it, without losing what this host is about to write."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from toolcrib.store.connection import DatabaseConnection
from toolcrib.store.work_queue import AsyncDatabase

T = TypeVar("T")


async def read_current(
    database: AsyncDatabase, read: Callable[[DatabaseConnection], T], changes: Callable[[], int]
) -> T:
    """What the table holds, local changes included; `changes` counts those that were submitted so far."""
    while True:
        before = changes()
        # After the writes that wait; shielded, because a queued read cannot be taken back.
        found = await asyncio.shield(asyncio.wrap_future(database.keep(read)))
        if changes() == before:
            return found
