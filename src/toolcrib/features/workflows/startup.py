"""What workflows do when a host opens: offer those that are tools, start their triggers, and go on with
interrupted runs. Decides how often it looks for triggers and runs of other processes.

Nothing else of workflows is imported unless there is something to do.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.clock import Clock
from toolcrib.config.paths import Paths
from toolcrib.errors import DatabaseError, DatabaseUnavailable, ToolcribError
from toolcrib.events import Subscription
from toolcrib.schema.events import CallFinished, Event, WorkflowsChanged
from toolcrib.store.connection import DatabaseConnection
from toolcrib.store.work_queue import AsyncDatabase
from toolcrib.tasks import cancel_and_wait

if TYPE_CHECKING:
    from toolcrib.host import Host

LOOK = 30.0
"""Seconds after which a trigger is noticed that another process turned on."""
_ANY = "SELECT 1 FROM workflow_triggers WHERE active = 1 LIMIT 1"

INTERVAL = 10.0
"""Seconds between looks: less than the time after which the runs of a stopped worker are taken over."""
TABLES = ("crib_runs", "crib_workers")

logger = logging.getLogger(__name__)


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


async def until_shared_runs(database: AsyncDatabase, clock: Clock) -> None:
    """Return once any host or worker on the database has used workflows."""
    while not await _has_runs(database):
        await clock.sleep(INTERVAL)


async def _has_runs(database: AsyncDatabase) -> bool:
    try:
        return await database.run(_any_row)
    except DatabaseError:
        return False  # It is asked again, also after the database was gone.


def _any_row(connection: DatabaseConnection) -> bool:
    for table in TABLES:
        if connection.execute("SELECT to_regclass(?) IS NOT NULL", (table,)).fetchone()[0]:
            query = f"SELECT EXISTS (SELECT 1 FROM {table})"  # noqa: S608
            if connection.execute(query).fetchone()[0]:
                return True
    return False


@asynccontextmanager
async def opened(host: Host) -> AsyncIterator[None]:
    """Offer workflows as tools, and continue runs while the block runs."""
    if await asyncio.to_thread(_may_offer_workflows, host.paths.workflows):
        await host.workflows.offer_tools()
    if not host.continues_work or not _may_have_runs(host.paths, shared=host.core.database.shared):
        yield
        return
    task = asyncio.create_task(_continue_runs(host), name="runs")
    try:
        yield
    finally:
        await cancel_and_wait(task)


def _may_offer_workflows(folder: Path) -> bool:
    """Whether a workflow may be marked as a tool; nothing is loaded to read it exactly."""
    return any(b'"tool"' in path.read_bytes() for path in folder.glob("*.json") if path.is_file())


def _may_have_runs(paths: Paths, *, shared: bool) -> bool:
    """Whether workflows ran here before, or may run elsewhere; costs one look at the disk."""
    return shared or (paths.runs / "runs.sqlite").exists()


async def _continue_runs(host: Host) -> None:
    """Go on with the runs of workflows that were interrupted, here or in others that share the database.

    A database that does not answer is tried until it does: there may be no one else who takes the runs over.
    """
    if host.core.database.shared and not await _shares_runs(host):
        return
    while True:
        try:
            await host.workflows.runs.open()
        except ToolcribError as error:
            logger.warning("workflows cannot run", extra={"reason": error.message, "hint": error.hint})
            if not isinstance(error, DatabaseUnavailable):
                return
            await host.core.clock.sleep(INTERVAL)
        else:
            return


async def _shares_runs(host: Host) -> bool:
    """Wait until the shared database has runs; False if nothing is installed here to run them with."""
    from toolcrib.features.workflows.host_engine import EXTRA
    from toolcrib.serverkit.extras import is_installed

    if not await asyncio.to_thread(is_installed, EXTRA):
        return False
    await until_shared_runs(host.core.database, host.core.clock)
    return True
