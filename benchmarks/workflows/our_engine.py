"""The same row as a workflow; then queued runs, and the heartbeats of many workers."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.workflows.empty_services import EmptyServices, row
from toolcrib.clock import SystemClock
from toolcrib.features.workflows.engine.database import RunDatabase
from toolcrib.features.workflows.engine.engine import Engine
from toolcrib.features.workflows.engine.opening import EngineOptions, Slot, Workers, open_engine

OPTIONS = EngineOptions(worker_concurrency=50, polling=0.1)
LONGEST = 3600.0


async def nodes(engine: Engine, length: int, tool: str) -> dict[str, float]:
    await engine.wait(await engine.start(row(10, tool)), LONGEST)
    flow = row(length, tool)
    begun, cpu = time.perf_counter(), time.process_time()
    record = await engine.wait(await engine.start(flow), LONGEST)
    wall, used = time.perf_counter() - begun, time.process_time() - cpu
    assert record.outputs == {"total": length}, record
    return {"wall_ms": wall / length * 1000, "cpu_ms": used / length * 1000}


async def queued(engine: Engine, number: int) -> dict[str, float]:
    """Enqueue this many runs of one node, and wait for the last."""
    flow = row(1, "safe")
    begun, cpu = time.perf_counter(), time.process_time()
    runs = [await engine.start(flow, run_id=f"queued-{index}", queued=True) for index in range(number)]
    enqueued = time.perf_counter() - begun
    for run in runs:
        record = await engine.wait(run, LONGEST)
        assert record.outputs == {"total": 1}, record
    wall, used = time.perf_counter() - begun, time.process_time() - cpu
    return {"runs": number, "enqueue_s": enqueued, "seconds": wall, "cpu_ms_per_run": used / number * 1000}


async def workers(folder: Path, number: int) -> dict[str, float]:
    """A round in which every worker shows that it is alive and looks at all others; then all but one stop."""
    database = RunDatabase(f"sqlite:///{folder / 'workers.sqlite'}")
    await database.prepare()
    recovered: list[str] = []

    def recover(names: list[str]) -> int:
        recovered.extend(names)
        return len(names)

    every = [
        Workers(database, Slot(f"w{index}", 1), SystemClock(), lease=0.0, recover=recover)
        for index in range(number)
    ]
    for each in every:
        await each.register()
    begun, cpu = time.perf_counter(), time.process_time()
    for each in every:
        await each.beat()
    for each in every:
        await each.reap()
    wall, used = time.perf_counter() - begun, time.process_time() - cpu
    await every[0].reap()
    assert len(recovered) == number - 1, len(recovered)
    database.close()
    return {"workers": number, "wall_ms": wall / number * 1000, "cpu_ms": used / number * 1000}


async def main(folder: Path, length: int, runs: int, number: int) -> None:
    found: dict[str, Any] = {}
    async with open_engine(folder / "home", EmptyServices(), options=OPTIONS) as engine:
        found["safe"] = await nodes(engine, length, "safe")
        found["guarded"] = await nodes(engine, length, "other")
        found["queued"] = await queued(engine, runs)
    found["workers"] = await workers(folder, number)
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *map(int, sys.argv[2:5])))
