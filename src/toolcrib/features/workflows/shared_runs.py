"""Waits until a shared database has runs of workflows, of which every host that shares it is a worker."""

from __future__ import annotations

from toolcrib.clock import Clock
from toolcrib.errors import DatabaseError
from toolcrib.store.connection import Connection
from toolcrib.store.work_queue import Database

INTERVAL = 10.0
"""Seconds between looks: less than the time after which the runs of a stopped worker are taken over."""
TABLES = ("crib_runs", "crib_workers")


async def until_shared_runs(database: Database, clock: Clock) -> None:
    """Return once any host or worker on the database has used workflows."""
    while not await _has_runs(database):
        await clock.sleep(INTERVAL)


async def _has_runs(database: Database) -> bool:
    try:
        return await database.run(_any_row)
    except DatabaseError:
        return False  # It is asked again, also after the database was gone.


def _any_row(connection: Connection) -> bool:
    for table in TABLES:
        if connection.execute("SELECT to_regclass(?) IS NOT NULL", (table,)).fetchone()[0]:
            query = f"SELECT EXISTS (SELECT 1 FROM {table})"  # noqa: S608
            if connection.execute(query).fetchone()[0]:
                return True
    return False
