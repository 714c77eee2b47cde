"""A row of empty steps on plain DBOS, on SQLite set up as ours is."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

import sqlalchemy as sa
from dbos import DBOS, DBOSConfig

from toolcrib.features.workflows.engine.database import RunDatabase
from toolcrib.features.workflows.engine.serializer import JsonSerializer


@DBOS.workflow(name="row")
async def row(length: int) -> int:
    total = 0
    for number in range(length):
        total = await DBOS.run_step_async({"name": f"n{number}"}, add, total)
    return total


async def add(total: int) -> int:
    return total + 1


async def main(folder: Path, length: int) -> None:
    database = RunDatabase(f"sqlite:///{folder / 'plain.sqlite'}")
    engine: sa.Engine = database.engine
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA journal_mode=WAL")
    config = DBOSConfig(
        name="plain",
        system_database_url=database.url,
        system_database_engine=engine,
        application_version="1",
        serializer=JsonSerializer(),
        log_level="ERROR",
    )
    DBOS(config=config)
    DBOS.launch()
    await row(10)
    begun, cpu = time.perf_counter(), time.process_time()
    await row(length)
    wall, used = time.perf_counter() - begun, time.process_time() - cpu
    print(json.dumps({"wall_ms": wall / length * 1000, "cpu_ms": used / length * 1000}))
    DBOS.destroy()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
