"""Workers watch each other: the runs of one that has stopped go on in another.

Each worker increases a number in its row. A worker whose number has not changed for a while, on the clock of
the one who watches, has stopped. No wall clock is involved, so changes of the time do no harm. A worker that
was only frozen is fenced off: DBOS and the guard refuse its writes for runs that it has lost.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Callable, Iterable

import sqlalchemy as sa

from toolcrib.clock import Clock
from toolcrib.errors import DatabaseUnavailable
from toolcrib.features.workflows.engine.database import Database
from toolcrib.features.workflows.engine.outcomes import status
from toolcrib.features.workflows.engine.tables import workers
from toolcrib.features.workflows.engine.worker_slots import Slot

logger = logging.getLogger(__name__)
REAP_LOCK = 7_316_002
"""The advisory lock of PostgreSQL under which runs of stopped workers are taken over."""
GONE = -1
MOST_NAMED = 5


class Workers:
    """The rows of all workers, and what this one has seen of the others."""

    def __init__(
        self,
        database: Database,
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
