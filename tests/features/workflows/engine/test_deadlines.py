"""Deadlines of waits: what was sent in time counts, also if a worker sees it later."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tests.features.workflows.engine.conftest import OPTIONS, Bench
from tests.features.workflows.engine.sample_services import SampleServices
from tests.features.workflows.engine.sample_workflows import call, workflow
from toolcrib.clock import SystemClock
from toolcrib.errors import UsageError
from toolcrib.features.workflows.engine.dbos_internals import SystemSchema
from toolcrib.features.workflows.engine.engine import Engine
from toolcrib.features.workflows.engine.opening import open_engine, open_viewer
from toolcrib.graph.node_type import UserAnswer

DEADLINE = 600.0
BEFORE, AFTER, LATER = (timedelta(seconds=seconds) for seconds in (300, 900, 1800))
WAIT = {"type": "Wait", "settings": {"event": "paid", "deadline": DEADLINE}}
ASK = {"type": "AskUser", "settings": {"message": "Well?", "choices": ["Yes"], "deadline": DEADLINE}}


class LaterClock(SystemClock):
    def __init__(self, by: timedelta) -> None:
        self.by = by

    def now(self) -> datetime:
        return super().now() + self.by


@asynccontextmanager
async def worker(folder: Path, by: timedelta = timedelta()) -> AsyncIterator[Bench]:
    services, changed = SampleServices(folder / "calls"), asyncio.Event()
    async with open_engine(
        folder / "home",
        services,
        options=OPTIONS,
        clock=LaterClock(by),
        on_change=lambda run, step: changed.set(),
    ) as engine:
        yield Bench(engine, services, changed)


def viewer(folder: Path, by: timedelta) -> Any:
    """What a command uses while no worker runs."""
    return open_viewer(folder / "home", clock=LaterClock(by))


async def is_waiting(bench: Bench, run: str) -> None:
    async with asyncio.timeout(60):
        while [step.state for step in await bench.engine.steps(run)] != ["waiting"]:
            bench.changed.clear()
            await bench.changed.wait()


async def started(folder: Path, node: dict[str, Any]) -> str:
    """A run that waits, and whose worker has stopped."""
    nodes = {"wait": node, "late": call(), "next": call()}
    async with worker(folder) as bench:
        run = await bench.engine.start(workflow(nodes, ["wait next", "wait.error late"]))
        await is_waiting(bench, run)
    return run


async def steps_after(folder: Path, run: str, by: timedelta) -> list[str]:
    async with worker(folder, by) as bench:
        assert (await bench.ended(run)).state == "finished"
        return [step.step for step in await bench.engine.steps(run)]


async def send(engine: Engine, run: str) -> None:
    await engine.send_event(run, "paid", {"id": 7})


async def test_an_event_sent_before_the_deadline_counts_after_it(tmp_path: Path) -> None:
    run = await started(tmp_path, WAIT)
    async with viewer(tmp_path, BEFORE) as engine:
        await send(engine, run)

    assert await steps_after(tmp_path, run, AFTER) == ["wait", "next"]


async def test_an_event_sent_after_the_deadline_is_kept_for_a_later_wait(tmp_path: Path) -> None:
    run = await started(tmp_path, WAIT)
    async with viewer(tmp_path, AFTER) as engine:
        await send(engine, run)

    assert await steps_after(tmp_path, run, LATER) == ["wait", "late"]


async def test_an_answer_given_before_the_deadline_counts_after_it(tmp_path: Path) -> None:
    run = await started(tmp_path, ASK)
    async with viewer(tmp_path, BEFORE) as engine:
        await engine.answer(run, "wait", UserAnswer(choice="Yes"))

    assert await steps_after(tmp_path, run, AFTER) == ["wait", "next"]


async def test_an_answer_after_the_deadline_is_refused_and_says_why(tmp_path: Path) -> None:
    run = await started(tmp_path, ASK)
    async with viewer(tmp_path, AFTER) as engine:
        with pytest.raises(UsageError, match="had to be answered until"):
            await engine.answer(run, "wait", UserAnswer(choice="Yes"))

    assert await steps_after(tmp_path, run, LATER) == ["wait", "late"]


@pytest.mark.parametrize("node", [WAIT, ASK])
async def test_a_wait_that_expired_stays_so_and_asks_no_more(tmp_path: Path, node: dict[str, Any]) -> None:
    """Its worker stopped between the end of the wait and the record of its step."""
    run = await started(tmp_path, node)
    async with worker(tmp_path, AFTER) as bench:
        await bench.ended(run)
        steps, status = SystemSchema.operation_outputs, SystemSchema.workflow_status
        await bench.engine.database.run(lambda connection: connection.execute(sa.delete(steps)))
        again = sa.update(status).values(status="PENDING", completed_at=None)
        await bench.engine.database.run(lambda connection: connection.execute(again))
        assert (await bench.engine.status(run)).questions == ()
    async with viewer(tmp_path, BEFORE) as engine:
        await send(engine, run)

    assert await steps_after(tmp_path, run, BEFORE) == ["wait", "late"]
