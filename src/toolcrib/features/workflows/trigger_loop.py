"""Runs the triggers of workflows in a host that keeps running; nothing of it is loaded before one is on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from toolcrib.events import Subscription
from toolcrib.schema.events import CallFinished, Event, WorkflowsChanged
from toolcrib.tasks import cancel_and_wait

if TYPE_CHECKING:
    from toolcrib.host.host import Host

logger = logging.getLogger(__name__)

LOOK = 30.0
"""Seconds after which a trigger is noticed that another process turned on."""
_ANY = "SELECT 1 FROM workflow_triggers WHERE active = 1 LIMIT 1"


@asynccontextmanager
async def run_triggers(host: Host) -> AsyncIterator[None]:
    """Start runs by triggers while the block runs."""
    task = asyncio.create_task(_run(host), name="workflow triggers")
    try:
        yield
    finally:
        await cancel_and_wait(task)


async def _run(host: Host) -> None:
    with host.events.subscribe(without=CallFinished) as events:
        while not await _any_is_on(host):
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await _changed(events)
    async with host.workflows.triggers.running():
        await asyncio.Event().wait()


async def _any_is_on(host: Host) -> bool:
    try:
        return bool(await host.core.database.run(lambda connection: connection.execute(_ANY).fetchone()))
    except Exception as error:  # noqa: BLE001 - the database may be away: look again later
        logger.warning("triggers could not be read: %s", error)
        return False


async def _changed(events: Subscription[Event]) -> None:
    while not isinstance(await events.next(), WorkflowsChanged):
        pass
