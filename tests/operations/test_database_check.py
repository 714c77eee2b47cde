"""What `doctor` says of the database."""

from __future__ import annotations

import sqlite3

from toolcrib.operations.checks import database
from toolcrib.operations.health import CheckContext


async def test_a_lock_is_named_as_such_and_the_disk_is_not_blamed(crib):
    async with crib.open() as host:
        file = host.paths.database
        place = CheckContext(paths=host.paths, host=host)
        [before] = await database.check(place)
        holder = sqlite3.connect(file, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        [during] = await database.check(place)
        holder.execute("ROLLBACK")
        holder.close()
        [after] = await database.check(place)
    assert "locked by another process" in during.detail
    assert "disk" not in f"{during.detail} {during.hint}"
    assert before.detail == after.detail
    assert "locked" not in after.detail
