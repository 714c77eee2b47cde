"""Deletes expired records of calls, but none because of a wrong clock."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial

from toolcrib.store.columns import to_stored
from toolcrib.store.connection import Connection
from toolcrib.store.work_queue import Database

JUMP = timedelta(days=30)
"""A longer gap without records may be a wrong clock: nothing is deleted until the same time has passed."""
AT_ONCE = 5000
LAST_ID = 2**63 - 1


async def delete_expired(database: Database, now: datetime, age: timedelta) -> int:
    """Returns the number of deleted records."""
    if await database.run(partial(_is_after_jump, to_stored(now - JUMP), to_stored(now))):
        return 0
    oldest = to_stored(now - age)
    border = await database.run(partial(_first_kept, oldest, to_stored(now)))
    gone = 0
    while deleted := await database.run(partial(_delete_before, oldest, border)):
        # In portions, so that new records can be written in between.
        gone += deleted
    return gone


def _is_after_jump(before: int, now: int, connection: Connection) -> bool:
    """Whether the records newer than `before` follow a gap, as after a jump of the clock."""
    statement = "SELECT max(time) FROM calls WHERE time < ?"
    (last,) = connection.execute(statement, (before,)).fetchone()
    if last is None:
        return False
    (following,) = connection.execute("SELECT min(time) FROM calls WHERE time > ?", (last,)).fetchone()
    return bool(min(now, following if following is not None else now) - last > now - before)


def _first_kept(oldest: int, now: int, connection: Connection) -> int:
    """The first record that is not expired: those written after it are newer, whatever their time says."""
    statement = "SELECT id FROM calls WHERE time >= ? AND time <= ? ORDER BY id LIMIT 1"
    found = connection.execute(statement, (oldest, now)).fetchone()
    return LAST_ID if found is None else int(found[0])


def _delete_before(oldest: int, border: int, connection: Connection) -> int:
    statement = "DELETE FROM calls WHERE id IN (SELECT id FROM calls WHERE time < ? AND id < ? LIMIT ?)"
    return connection.execute(statement, (oldest, border, AT_ONCE)).rowcount
