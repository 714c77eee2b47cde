"""Looks into the database in intervals: for what other processes did to runs, and for stopped workers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

import sqlalchemy as sa
from dbos import DBOS

from toolcrib.features.workflows.engine.dbos_internals import requeue, take_recovered_runs
from toolcrib.features.workflows.engine.outcomes import status
from toolcrib.features.workflows.engine.ownership import stop_lost
from toolcrib.features.workflows.engine.runtime import Runtime
from toolcrib.features.workflows.engine.workers import Workers

logger = logging.getLogger(__name__)


class Watcher:
    """Background work of an open engine; each part goes on after a failure."""

    def __init__(
        self,
        runtime: Runtime,
        workers: Workers,
        *,
        polling: float,
        heartbeat: float,
        lease: float,
        own_runs_only: bool = False,
    ) -> None:
        self._runtime = runtime
        self._workers = workers
        self._polling = polling
        self._heartbeat = heartbeat
        self._lease = lease
        self._own_runs_only = own_runs_only
        self._missing: dict[str, float] = {}

    async def run(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._repeat(self._polling, self._look))
            group.create_task(self._repeat(self._heartbeat, self._workers.beat))
            group.create_task(self._repeat(self._heartbeat, self._reap))

    async def _repeat(self, seconds: float, work: Callable[[], Awaitable[object]]) -> None:
        while True:
            try:
                await work()
            except Exception:
                logger.exception("the background work of the workflow engine failed and is tried again")
            await self._runtime.clock.sleep(seconds)

    async def _look(self) -> None:
        if self._runtime.active:
            await self._runtime.waits.look()
            await self._runtime.controls.refresh()
            await stop_lost(self._runtime, list(self._runtime.active))

    async def _reap(self) -> None:
        if not self._own_runs_only:
            await self._workers.reap()
        await self._dispatch_lost()

    async def _dispatch_lost(self) -> None:
        """Put runs back into a queue that this process took but does not run.

        That happens if the database fails between the two, or when an outcome could not be stored. It must be
        missing for a while: between taking and running there is a moment, and a busy machine makes it long.
        """
        mine = sa.select(status.c.workflow_uuid).where(
            status.c.status == "PENDING", status.c.executor_id == DBOS.executor_id
        )
        rows = await self._runtime.database.run(lambda connection: list(connection.execute(mine).scalars()))
        now = self._runtime.clock.monotonic()
        missing = [run for run in rows if run not in self._runtime.active]
        self._missing = {run: self._missing.get(run, now) for run in missing}
        for run in [run for run, since in self._missing.items() if now - since > self._lease]:
            logger.warning("a run was lost between its queue and this worker", extra={"run": run})
            await self._runtime.database.run(lambda _, run=run: requeue(run))  # type: ignore[misc]
            del self._missing[run]
            take_recovered_runs(True)  # It is in their queue now; there may be no one else.
