"""Ten thousand calls leave nothing behind."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from pathlib import Path

import pytest

from tests.tools.workshop import Workshop
from toolcrib.store.audit import AuditLog
from toolcrib.store.database import open_database
from toolcrib.tools.caller import Caller


async def _call(door: Caller, times: int) -> None:
    for number in range(times):
        await door.call("bench__add", {"a": number, "b": 2})


def _open_descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


@pytest.mark.acceptance
async def test_ten_thousand_calls_leave_no_growth(workshop: Workshop, tmp_path: Path) -> None:
    @workshop.bench.tool()
    async def add(a: float, b: float) -> float:
        """Add two numbers."""
        return a + b

    async with open_database(tmp_path / "toolcrib.db") as database, AuditLog(database) as audit:
        workshop.ledger = audit  # type: ignore[assignment]
        door = workshop.open()
        await _call(door, 500)
        await audit.flush()
        tasks, descriptors = len(asyncio.all_tasks()), _open_descriptors()
        tracemalloc.start()
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()

        await asyncio.gather(*(_call(door, 1000) for _ in range(10)))
        await audit.flush()

        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(asyncio.all_tasks()) == tasks
        assert _open_descriptors() <= descriptors
        assert after - before < 200_000
        assert len(await audit.query(20_000)) == 10_500
        assert audit.errors == 0
