"""Workers watch each other: the runs of one that has stopped go on in another.

Each worker increases a number in its row. A worker whose number has not changed for a while, on the clock of
the one who watches, has stopped. No wall clock is involved, so changes of the time do no harm. A worker that
was only frozen is fenced off: DBOS and the guard refuse its writes for runs that it has lost.

Names of workers: no two processes ever have the same one, and a restarted worker knows its former names. A
home has numbered slots, each a file that the operating system locks for one process. The slot has a random
name; each process that takes it adds the next number. So a run's worker id says exactly which process had it,
and the process that holds the lock knows that the earlier processes of the slot have ended.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import re
import socket
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from toolcrib.clock import Clock
from toolcrib.errors import ConfigError, DatabaseUnavailable
from toolcrib.features.workflows.engine.database import RunDatabase
from toolcrib.features.workflows.engine.outcomes import status
from toolcrib.features.workflows.engine.tables import workers

MOST_SLOTS = 256

logger = logging.getLogger(__name__)
REAP_LOCK = 7_316_002
"""The advisory lock of PostgreSQL under which runs of stopped workers are taken over."""
GONE = -1
MOST_NAMED = 5


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
    slot = _read(descriptor)
    slot = Slot(slot.name, slot.generation + 1)
    text = json.dumps({"name": slot.name, "generation": slot.generation}).encode()
    os.pwrite(descriptor, text, 0)
    os.ftruncate(descriptor, len(text))
    os.fsync(descriptor)
    return slot


def _read(descriptor: int) -> Slot:
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
