"""Opens the engine: one for a process, as DBOS is.

DBOS is launched inside the running loop, so that nodes run on the host's own loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from dbos import DBOS, DBOSConfig

from toolcrib.clock import Clock, SystemClock
from toolcrib.config.database_key import Signer
from toolcrib.errors import HostRunning
from toolcrib.features.workflows.engine import dbos_internals, interpreter
from toolcrib.features.workflows.engine.database import Database, Synchronous
from toolcrib.features.workflows.engine.engine import Engine
from toolcrib.features.workflows.engine.patience import in_time
from toolcrib.features.workflows.engine.queues import Queues
from toolcrib.features.workflows.engine.runtime import OnChange, Runtime
from toolcrib.features.workflows.engine.watcher import Watcher
from toolcrib.features.workflows.engine.worker_slots import Slot, take_slot
from toolcrib.features.workflows.engine.workers import Workers
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
    database = Database(url or f"sqlite:///{folder / 'runs.sqlite'}", synchronous=options.synchronous)
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
            watching = asyncio.create_task(
                Watcher(
                    runtime,
                    workers,
                    polling=options.polling,
                    heartbeat=options.heartbeat,
                    lease=options.lease,
                    own_runs_only=options.own_runs_only,
                ).run()
            )
            try:
                yield engine
            finally:
                await engine.drain(options.grace)
                await cancel_and_wait(watching)
        await workers.leave()


@asynccontextmanager
async def _closing(database: Database, folder: Path) -> AsyncIterator[Slot]:
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


async def _destroy(database: Database) -> None:
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
    if not any(isinstance(each, _WithoutRuns) for each in logger.filters):
        logger.addFilter(_WithoutRuns())
        logger.addHandler(logging.NullHandler())
        logger.propagate = True


class _WithoutRuns(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return not record.getMessage().startswith(
            ("Exception encountered in asynchronous workflow", "Asyncio task cancelled", "Workflow ")
        )
