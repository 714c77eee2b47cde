"""Lists of runs are complete, however many runs are queued or over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import sqlalchemy as sa

from tests.databases.postgres import PostgresProcess, postgres, postgres_url  # noqa: F401
from tests.features.workflows.engine.conftest import OPTIONS, Bench
from tests.features.workflows.engine.sample_services import SampleServices
from tests.features.workflows.engine.sample_workflows import call, workflow
from toolcrib.features.workflows.engine.dbos_internals import SystemSchema
from toolcrib.features.workflows.engine.opening import open_engine
from toolcrib.features.workflows.engine.outcomes import output, status
from toolcrib.features.workflows.engine.tables import runs
from toolcrib.schema.workflows import Workflow

COPIES = 2100
"""More than any list shows, and more than are sorted as a whole."""


@pytest_asyncio.fixture(params=["sqlite", "postgres"])
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Bench]:
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    services, changed = SampleServices(tmp_path / "calls"), asyncio.Event()
    async with open_engine(
        tmp_path / "home", services, url=url, options=OPTIONS, on_change=lambda run, step: changed.set()
    ) as engine:
        yield Bench(engine, services, changed)


def ordered(nodes: dict[str, Any], **rest: Any) -> Workflow:
    return workflow(nodes, [], inputs={"order": {"type": "integer", "required": False}}, **rest)


def copy(connection: sa.Connection, source: str, name: str, **changed: Any) -> None:
    """Rows as those of a run, all created at the same moment as it was."""
    inputs, steps = SystemSchema.workflow_input, SystemSchema.operation_outputs
    for table in (runs, status, inputs, output, steps):
        key = table.c.run if table is runs else table.c.workflow_uuid
        for row in connection.execute(sa.select(table).where(key == source)).mappings().all():
            new = {**row, **({"owner_xid": None, **changed} if table is status else {})}
            connection.execute(table.insert(), [{**new, key.name: f"{name}-{at:04}"} for at in range(COPIES)])


@pytest.mark.acceptance
async def test_runs_of_every_state_are_listed_among_thousands_that_are_queued_and_over(bench: Bench) -> None:
    engine = bench.engine
    ask = {"type": "AskUser", "settings": {"message": "Well?"}}
    bench.services.workflows["inner"] = ordered({"ask": ask})
    sub = {"type": "SubWorkflow", "settings": {"workflow": "inner", "inputs": {}}}
    waiting = await engine.start(ordered({"sub": sub}, name="asking"), {"order": 7})
    await bench.until(waiting, "waiting")
    paused = await engine.start(ordered({"only": call()}), breakpoints=["only"])
    await bench.until(paused, "paused")
    running = await engine.start(ordered({"only": call(hold=True)}))
    await asyncio.wait_for(bench.services.called.wait(), 60)
    finished = (await bench.finished(ordered({"only": call()}))).run
    failed = (await bench.finished(ordered({"only": call(failures=9)}))).run
    queued = {"status": "ENQUEUED", "queue_name": "no-worker", "completed_at": None, "recovery_attempts": 0}
    for source, name, changed in (
        (finished, "queued", queued),
        (finished, "finished", {}),
        (failed, "failed", {}),
    ):
        await engine.database.run(
            lambda connection, given=(source, name, changed): copy(connection, *given[:2], **given[2])  # type: ignore[misc]
        )

    async def listed(state: Any, **options: Any) -> list[str]:
        return [record.run for record in await engine.runs(state=state, **options)]

    assert await listed("waiting") == [waiting]
    assert await listed("paused") == [paused]
    assert await listed("running") == [running]
    assert await listed("running", asked=[running]) == []
    assert await listed("waiting", asked=[running, "queued-0001", paused]) == [running, waiting]
    assert await engine.with_input("asking", "order", 7) == [waiting]
    assert await engine.with_input("asking", "order", 8) == []
    assert await listed(None, prefix="queued-20") == [f"queued-{at}" for at in range(2000, 2050)]
    assert len(await listed(None, limit=1001)) == 1001
    for state, copies in (("queued", "queued"), ("finished", "finished"), ("failed", "failed")):
        assert len([run for run in await listed(state, limit=None) if run.startswith(copies)]) == COPIES

    latest = await engine.latest(["asking", "sample", "nothing"], 3)
    assert sorted(record.workflow for record in latest) == ["asking", "sample", "sample", "sample"]

    seen: list[str] = []
    while page := await listed(None, limit=1000, before=seen[-1] if seen else None):
        seen += page
    assert len(seen) == len(set(seen)) == 3 * COPIES + 5
    bench.services.release.set()


async def test_a_run_ends_after_it_began_and_after_its_last_step(bench: Bench) -> None:
    """Also one of an earlier version, whose end was stored in whole seconds."""
    engine = bench.engine
    made = [await bench.finished(ordered({"only": call(failures=count)})) for count in (0, 0, 0, 9)]
    held = await engine.start(ordered({"only": call(hold=True)}, name="held"))
    await bench.when(held, lambda record: record.state == "running")
    await engine.cancel(held)
    made.append(await bench.ended(held))

    async def check() -> None:
        for record in await engine.runs():
            assert record.ended is not None
            ends = [step.ended for step in await engine.steps(record.run) if step.ended]
            assert record.ended >= max([record.created, *ends])

    await check()
    older = sa.update(status).values(completed_at=status.c.completed_at - status.c.completed_at % 1000)
    await engine.database.run(lambda connection: connection.execute(older))
    await check()
    assert {record.state for record in made} == {"finished", "failed", "cancelled"}
