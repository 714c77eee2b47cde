"""Opens the engine: one for a process, as DBOS is.

DBOS is launched inside the running loop, so that nodes run on the host's own loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, DBOSConfig

from toolcrib.clock import Clock, SystemClock
from toolcrib.config.database_key import Signer
from toolcrib.errors import HostRunning
from toolcrib.features.workflows.engine import dbos_internals, interpreter
from toolcrib.features.workflows.engine.database import RunDatabase, Synchronous, in_time
from toolcrib.features.workflows.engine.dbos_internals import Queues, requeue, take_recovered_runs
from toolcrib.features.workflows.engine.engine import Engine
from toolcrib.features.workflows.engine.outcomes import status
from toolcrib.features.workflows.engine.runtime import OnChange, Runtime, stop_lost
from toolcrib.features.workflows.engine.workers import Slot, Workers, take_slot
from toolcrib.features.workflows.ports import RunServices
from toolcrib.features.workflows.secret_inputs import NO_KEY, RunKey
from toolcrib.tasks import cancel_and_wait

logger = logging.getLogger(__name__)
ENGINE_VERSION = "1"
"""Runs are continued only by workers of the same version; raised if recorded steps could not be replayed."""
APPLICATION = "toolcrib"
LONGEST_END = 15.0
"""Seconds that DBOS may take to end, and to write what it has begun, before its connections are cut."""


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """How an engine works; the defaults suit one machine."""

    worker_concurrency: int = 20
    """Queued runs that this process works on at once, for each queue."""
    polling: float = 0.5
    """Seconds between looks at what other processes did, and at the queues."""
    heartbeat: float = 3.0
    lease: float = 15.0
    """Seconds without a heartbeat after which the runs of a worker are taken over."""
    grace: float = 10.0
    """Seconds that steps under way may take to end when the engine closes."""
    synchronous: Synchronous = "NORMAL"
    """`FULL` loses nothing in a power failure, and is slower; only for SQLite."""
    own_runs_only: bool = False
    """Leave queued runs and those of stopped workers to others: this process ends with its own run."""


class Watcher:
    """Background work of an open engine; each part goes on after a failure."""

    def __init__(self, runtime: Runtime, workers: Workers, options: EngineOptions) -> None:
        self._runtime = runtime
        self._workers = workers
        self._options = options
        self._missing: dict[str, float] = {}

    async def run(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._repeat(self._options.polling, self._look))
            group.create_task(self._repeat(self._options.heartbeat, self._workers.beat))
            group.create_task(self._repeat(self._options.heartbeat, self._reap))

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
        if not self._options.own_runs_only:
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
        for run in [run for run, since in self._missing.items() if now - since > self._options.lease]:
            logger.warning("a run was lost between its queue and this worker", extra={"run": run})
            await self._runtime.database.run(lambda _, run=run: requeue(run))  # type: ignore[misc]
            del self._missing[run]
            take_recovered_runs(True)  # It is in their queue now; there may be no one else.


class Viewer(Engine):
    """An engine that runs nothing; another process does."""

    async def _cancel(self, names: list[str]) -> None:
        client = DBOSClient(
            system_database_engine=self.database.engine, serializer=self._runtime.serializer, lazy=True
        )
        await client.cancel_workflows_async(names)


@asynccontextmanager
async def open_viewer(
    folder: Path,
    *,
    url: str | None = None,
    signer: Signer | None = None,
    clock: Clock | None = None,
    on_change: OnChange = lambda run, step: None,
    key: RunKey = NO_KEY,
) -> AsyncIterator[Engine]:
    """The runs of a home folder, or of a PostgreSQL database."""
    database = RunDatabase(url or f"sqlite:///{folder / 'runs.sqlite'}")
    # Services are for workers.
    runtime = Runtime.over(
        database, clock or SystemClock(), cast("RunServices", cast("Any", None)), on_change, signer, key
    )
    try:
        await database.prepare()
        yield Viewer(runtime, Queues(worker_concurrency=1, polling=1.0))
    finally:
        database.close()


@asynccontextmanager
async def open_engine(
    folder: Path,
    services: RunServices,
    *,
    url: str | None = None,
    signer: Signer | None = None,
    options: EngineOptions | None = None,
    clock: Clock | None = None,
    on_change: OnChange = lambda run, step: None,
    key: RunKey = NO_KEY,
) -> AsyncIterator[Engine]:
    """The engine of a home folder; `url` is a PostgreSQL database instead of SQLite in the folder.

    What other hosts and workers store is accepted only with the signature of `signer`, if there is one.
    `key` is that of the secret inputs; workers need the same one to take over each other's runs.
    """
    options, clock = options or EngineOptions(), clock or SystemClock()
    database = RunDatabase(url or f"sqlite:///{folder / 'runs.sqlite'}", synchronous=options.synchronous)
    runtime = Runtime.over(database, clock, services, on_change, signer, key)
    runtime.stale_after = options.lease / 3
    async with _closing(database, folder) as slot:
        await database.prepare()
        queues = Queues(
            worker_concurrency=options.worker_concurrency,
            polling=options.polling,
            listen=options.own_runs_only,
        )
        workers = Workers(database, slot, clock, lease=options.lease, recover=dbos_internals.recover)
        async with in_time(database):
            await workers.register()
        async with _launched(runtime, slot, options):
            async with in_time(database):
                await queues.open()
            if not options.own_runs_only:
                await workers.take_over_former()
            engine = Engine(runtime, queues, worker=slot.worker)
            watching = asyncio.create_task(Watcher(runtime, workers, options).run())
            try:
                yield engine
            finally:
                await engine.drain(options.grace)
                await cancel_and_wait(watching)
        await workers.leave()


@asynccontextmanager
async def _closing(database: RunDatabase, folder: Path) -> AsyncIterator[Slot]:
    """The name of this worker, until nothing of it can change the database any more."""
    with take_slot(folder / "workers") as slot:
        try:
            yield slot
        finally:
            # What threads of DBOS are writing now is the outcome of a step.
            await database.connections.unused(LONGEST_END)
            database.close()


@asynccontextmanager
async def _launched(runtime: Runtime, slot: Slot, options: EngineOptions) -> AsyncIterator[None]:
    if interpreter.is_used():
        raise HostRunning("This process already has an open workflow engine.")
    interpreter.use(runtime)
    _quiet_logs()
    instance = DBOS(config=_config(runtime, slot, options))
    dbos_internals.take_recovered_runs(not options.own_runs_only)
    if options.own_runs_only:
        DBOS.listen_queues([])
    try:
        DBOS.launch()
        yield
    finally:
        await cancel_and_wait(*dbos_internals.running_tasks(instance))
        await _destroy(runtime.database)
        # DBOS made its own threads the default ones of the loop, and has just ended them.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())
        interpreter.use(None)


async def _destroy(database: RunDatabase) -> None:
    """End DBOS. Its threads end what they are doing, but do not wait for a database that is away."""
    with ThreadPoolExecutor(1) as thread:
        ending = asyncio.get_running_loop().run_in_executor(thread, DBOS.destroy)
        _, unfinished = await asyncio.wait([ending], timeout=LONGEST_END)
        if unfinished:
            logger.warning("the workflow database does not answer; its connections are closed")
            database.connections.close()
        await ending


def _config(runtime: Runtime, slot: Slot, options: EngineOptions) -> DBOSConfig:
    database = runtime.database
    return DBOSConfig(
        name=APPLICATION,
        system_database_url=database.url,
        system_database_engine=database.engine,
        dbos_system_schema=database.schema,
        application_version=ENGINE_VERSION,
        executor_id=slot.worker,
        enable_patching=True,
        serializer=runtime.serializer,
        log_level="WARNING",
        notification_listener_polling_interval_sec=options.polling,
    )


def _quiet_logs() -> None:
    """DBOS logs to the host's handlers, without the errors of runs: they are recorded with the runs."""
    logger = dbos_internals.logger()
    if not any(isinstance(log_filter, _WithoutRuns) for log_filter in logger.filters):
        logger.addFilter(_WithoutRuns())
        logger.addHandler(logging.NullHandler())
        logger.propagate = True


class _WithoutRuns(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return not record.getMessage().startswith(
            ("Exception encountered in asynchronous workflow", "Asyncio task cancelled", "Workflow ")
        )
