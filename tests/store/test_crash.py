"""A writer that is killed in the middle of its work."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import sys
from pathlib import Path

from tests.store.records import Noon
from toolcrib.store.audit import AuditLog
from toolcrib.store.database import open_database

WRITER = """
import asyncio, itertools, sys
from datetime import UTC, datetime
from pathlib import Path
from toolcrib.schema.tools import CallRecord
from toolcrib.store.audit import AuditLog
from toolcrib.store.database import open_database

async def main():
    async with open_database(Path(sys.argv[1])) as database, AuditLog(database) as audit:
        for number in itertools.count():
            audit.record(CallRecord(
                time=datetime.now(UTC), tool="demo__add", server="demo", principal="python",
                outcome="ok", ms=1.0, bytes=1, call_id=str(number),
            ))
            if number % 100 == 99:
                await audit.flush()
                print(number + 1, flush=True)

asyncio.run(main())
"""


async def test_a_killed_writer_loses_at_most_its_last_moments(tmp_path: Path) -> None:
    path = tmp_path / "toolcrib.db"
    writer = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITER, str(path), stdout=asyncio.subprocess.PIPE
    )
    assert writer.stdout is not None
    confirmed = 0
    async with asyncio.timeout(60):
        while confirmed < 2000:
            confirmed = int(await writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        rest, _ = await writer.communicate()
    confirmed = int(rest.split()[-1]) if rest.split() else confirmed

    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    async with open_database(path) as database, AuditLog(database, clock=Noon()) as audit:
        ids = [int(record.call_id) for record in await audit.query(1_000_000)]

    assert len(ids) >= confirmed
    assert sorted(ids) == list(range(len(ids)))
