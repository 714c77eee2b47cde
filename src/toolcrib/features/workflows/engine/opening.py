"""Opens the engine: one for a process, as DBOS is. Decides heartbeats of workers, when the runs of a stopped
one are taken over, runs at once, polling, and names and number of workers.

DBOS is launched inside the running loop, so that nodes run on the host's own loop.

Workers watch each other: the runs of one that has stopped go on in another. Each worker increases a number in
its row. A worker whose number has not changed for a while, on the clock of the one who watches, has stopped.
No wall clock is involved, so changes of the time do no harm. A worker that was only frozen is fenced off:
DBOS and the guard refuse its writes for runs that it has lost.

Names of workers: no two processes ever have the same one, and a restarted worker knows its former names. A
home has numbered slots, each a file that the operating system locks for one process. The slot has a random
name; each process that takes it adds the next number. So a run's worker id says exactly which process had it,
and the process that holds the lock knows that the earlier processes of the slot have ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import logging
import os
import re
import socket
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, DBOSConfig

from toolcrib.clock import Clock, SystemClock
from toolcrib.config.database_key import Signer
from toolcrib.errors import ConfigError, DatabaseUnavailable, HostRunning
from toolcrib.features.workflows.engine import dbos_internals, interpreter
from toolcrib.features.workflows.engine.database import RunDatabase, Synchronous, in_time
from toolcrib.features.workflows.engine.dbos_internals import Queues, requeue, take_recovered_runs
from toolcrib.features.workflows.engine.engine import Engine
from toolcrib.features.workflows.engine.outcomes import status
from toolcrib.features.workflows.engine.runtime import OnChange, Runtime, stop_lost
from toolcrib.features.workflows.engine.tables import workers
from toolcrib.features.workflows.ports import RunServices
from toolcrib.features.workflows.secret_inputs import NO_KEY, RunKey
from toolcrib.tasks import cancel_and_wait

MOST_SLOTS = 256

REAP_LOCK = 7_316_002
"""The advisory lock of PostgreSQL under which runs of stopped workers are taken over."""
GONE = -1
MOST_NAMED = 5

logger = logging.getLogger(__name__)
ENGINE_VERSION = "1"
"""Runs are continued only by workers of the same version; raised if recorded steps could not be replayed."""
APPLICATION = "toolcrib"
LONGEST_END = 15.0
"""Seconds that DBOS may take to end, and to write what it has begun, before its connections are cut."""


@dataclass(frozen=True)
class Slot:
    """The name of this process."""

    name: str
    generation: int

    @property
    def worker(self) -> str:
        return f"{self.name}.{self.generation}"

    def is_earlier(self, worker: str) -> bool:
        """Whether this was an earlier process of the same slot."""
        name, _, generation = worker.rpartition(".")
        return name == self.name and generation.isdigit() and int(generation) < self.generation


@contextmanager
def take_slot(folder: Path) -> Iterator[Slot]:
    """The first free slot of the folder, locked until the end of the block."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = _lock_any(folder)
    try:
        yield _next_generation(descriptor)
    finally:
        os.close(descriptor)


def _lock_any(folder: Path) -> int:
    for number in range(1, MOST_SLOTS + 1):
        descriptor = os.open(folder / f"worker-{number}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
        else:
            return descriptor
    raise ConfigError(
        f"{MOST_SLOTS} workers already use {folder}.", hint="Stop some, or start this one with another home."
    )


def _next_generation(descriptor: int) -> Slot:
    """Written before it is used: a process that is killed later leaves its number behind."""
    slot = _read_slot(descriptor)
    slot = Slot(slot.name, slot.generation + 1)
    text = json.dumps({"name": slot.name, "generation": slot.generation}).encode()
    os.pwrite(descriptor, text, 0)
    os.ftruncate(descriptor, len(text))
    os.fsync(descriptor)
    return slot


def _read_slot(descriptor: int) -> Slot:
    try:
        stored = json.loads(os.pread(descriptor, 4096, 0))
        return Slot(str(stored["name"]), int(stored["generation"]))
    except (ValueError, KeyError, TypeError):
        # New, or cut by a crash while it was written: another name cannot collide with the old one.
        host = re.sub(r"[^a-z0-9-]", "-", socket.gethostname().lower())[:40]
        return Slot(f"{host}-{uuid.uuid4().hex[:12]}", 0)


class Workers:
    """The rows of all workers, and what this one has seen of the others."""

    def __init__(
        self,
        database: RunDatabase,
        slot: Slot,
        clock: Clock,
        *,
        lease: float,
        recover: Callable[[list[str]], int],
    ) -> None:
        self._database = database
        self._slot = slot
        self._clock = clock
        self._lease = lease
        self._recover = recover
        self._seen: dict[str, tuple[int, float]] = {}

    async def register(self) -> None:
        """Add this worker, before it can take runs."""
        await self._database.run(self._insert)

    async def take_over_former(self) -> None:
        """Take over the runs of earlier processes of this worker, which have certainly ended."""
        rows = await self._database.run(_all_beats)
        if former := [worker for worker in rows if self._slot.is_earlier(worker)]:
            await self._take_over(former)

    async def beat(self) -> None:
        """Show that this worker is alive."""
        if not await self._database.run(self._increase):
            # Another worker took this one for stopped; it is alive after all and can take new runs.
            await self._database.run(self._insert)

    async def reap(self) -> list[str]:
        """Take over the runs of workers that have stopped; their names."""
        rows = await self._database.run(_all_beats)
        now = self._clock.monotonic()
        rows.pop(self._slot.worker, None)
        self._seen = {
            worker: (beats, self._seen[worker][1] if self._unchanged(worker, beats) else now)
            for worker, beats in rows.items()
        }
        dead = [worker for worker, (_, since) in self._seen.items() if now - since > self._lease]
        return await self._take_over(dead) if dead else []

    async def leave(self) -> None:
        """Give up the row; runs under way are taken over by others at once, else after the lease."""
        with contextlib.suppress(DatabaseUnavailable):
            await self._database.run(
                lambda connection: _delete(connection, [self._slot.worker]), patience=1.0
            )

    def _unchanged(self, worker: str, beats: int) -> bool:
        return worker in self._seen and self._seen[worker][0] == beats

    async def _take_over(self, dead: list[str]) -> list[str]:
        taken = await self._database.run(lambda connection: self._take_over_locked(connection, dead))
        for worker in dead:
            self._seen.pop(worker, None)
        return taken

    def _take_over_locked(self, connection: sa.Connection, dead: list[str]) -> list[str]:
        """Runs are put into a queue one by one, and only if they still belong to a stopped worker.

        So it does no harm if two workers do it, or if this one is killed in between: the row goes last.
        """
        if not self._database.is_sqlite:
            got = connection.execute(sa.select(sa.func.pg_try_advisory_xact_lock(REAP_LOCK))).scalar()
            if not got:
                return []
        runs = self._recover(dead)
        if runs:
            logger.warning("took over %d runs of stopped workers: %s", runs, ", ".join(dead[:MOST_NAMED]))
        _delete(connection, dead)
        return dead

    def _insert(self, connection: sa.Connection) -> None:
        _delete(connection, [self._slot.worker])
        connection.execute(
            workers.insert().values(
                worker=self._slot.worker,
                host=socket.gethostname(),
                process=os.getpid(),
                started=self._clock.now().timestamp(),
                beats=1,
            )
        )

    def _increase(self, connection: sa.Connection) -> bool:
        mine = workers.c.worker == self._slot.worker
        return (
            connection.execute(sa.update(workers).where(mine).values(beats=workers.c.beats + 1)).rowcount > 0
        )


def _all_beats(connection: sa.Connection) -> dict[str, int]:
    """The number of each worker; `GONE` for those that have runs and no row."""
    with_runs = sa.select(status.c.executor_id).where(status.c.status == "PENDING").distinct()
    beats = {worker: GONE for worker in connection.execute(with_runs).scalars() if worker}
    rows = connection.execute(sa.select(workers.c.worker, workers.c.beats))
    return beats | {row.worker: row.beats for row in rows}


def _delete(connection: sa.Connection, names: Iterable[str]) -> None:
    connection.execute(sa.delete(workers).where(workers.c.worker.in_(list(names))))


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
