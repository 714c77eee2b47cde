"""Restarts, a full disk, a missing database, changes of the clock: runs wait or fail, and recover."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tests.databases.postgres import running_postgres
from tests.features.workflows.engine.conftest import DEADLINE, OPTIONS, Bench
from tests.features.workflows.engine.sample_services import SampleServices
from tests.features.workflows.engine.sample_workflows import call, chain, workflow
from toolcrib.clock import SystemClock
from toolcrib.features.workflows.engine.opening import open_engine, take_slot
from toolcrib.graph.node_type import UserAnswer


class MovedClock(SystemClock):
    """The machine's clock, of which the time of day can be changed."""

    moved = timedelta()

    def now(self) -> datetime:
        return super().now() + self.moved

    def sleep(self, seconds: float) -> Awaitable[None]:
        return asyncio.sleep(seconds)


@asynccontextmanager
async def opened(folder: Path, **options: Any) -> AsyncIterator[Bench]:
    services, changed = SampleServices(folder / "calls"), asyncio.Event()
    chosen = {"options": OPTIONS, **options}
    async with open_engine(
        folder / "home", services, on_change=lambda run, step: changed.set(), **chosen
    ) as engine:
        yield Bench(engine, services, changed)


async def called(bench: Bench) -> None:
    await asyncio.wait_for(bench.services.called.wait(), DEADLINE)


async def test_an_interrupted_call_is_repeated_only_if_it_is_repeatable(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        safe = await bench.engine.start(workflow({"only": call("note", seconds=60)}, []), run_id="safe")
        await called(bench)
        bench.services.called.clear()
        risky = await bench.engine.start(workflow({"only": call("append", seconds=60)}, []), run_id="risky")
        await called(bench)

    async with opened(tmp_path) as bench:
        asked = (await bench.until(risky, "waiting")).questions[0]
        assert (asked.step, asked.uncertain) == ("only", True)
        assert asked.choices == ("Do it again", "It was done", "Stop here")
        await bench.when(safe, lambda record: len(bench.calls(safe)) == 2)
        await bench.engine.answer(risky, "only", UserAnswer(choice="Stop here"))
        assert (await bench.ended(risky)).error["kind"] == "uncertain"  # type: ignore[index]
        assert bench.calls(risky) == ["only"]


async def test_questions_pauses_and_waits_go_on_after_a_restart(tmp_path: Path) -> None:
    ask = {"type": "AskUser", "settings": {"message": "Well?"}}
    wait = {"type": "Wait", "settings": {"seconds": 1.0}}
    event = {"type": "Wait", "settings": {"event": "go"}}
    async with opened(tmp_path) as bench:
        asking = await bench.engine.start(workflow({"ask": ask}, [], outputs={"is": "{{ask.choice}}"}))
        paused = await bench.engine.start(chain(2), breakpoints=["n1"])
        waiting = await bench.engine.start(workflow({"wait": wait}, []))
        expecting = await bench.engine.start(
            workflow({"signal": event}, [], outputs={"is": "{{signal.data}}"})
        )
        await bench.until(asking, "waiting")
        await bench.until(paused, "paused")

    async with opened(tmp_path) as bench:
        assert (await bench.until(paused, "paused")).paused_at == ("n1",)
        await bench.engine.answer(asking, "ask", UserAnswer(choice="Reject"))
        await bench.engine.send_event(expecting, "go", {"number": 7})
        await bench.engine.resume(paused)

        assert (await bench.ended(asking)).outputs == {"is": "Reject"}
        assert (await bench.ended(paused)).outputs == {"total": 2}
        assert (await bench.ended(expecting)).outputs == {"is": {"number": 7}}
        assert (await bench.ended(waiting)).state == "finished"
        assert bench.calls(paused) == ["n0", "n1"]


class Reported(logging.Handler):
    """Notices when a text is logged, in any thread."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text
        self._loop = asyncio.get_running_loop()
        self.event = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        if self._text in record.getMessage():
            self._loop.call_soon_threadsafe(self.event.set)


async def test_a_full_disk_is_waited_for(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        run = await bench.engine.start(chain(40, seconds=0.02))
        await called(bench)
        engine = bench.engine._runtime.database.engine
        full = True

        @sa.event.listens_for(engine, "checkout")
        def limit(connection: sqlite3.Connection, *_: object) -> None:
            used = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count={used if full else 1_000_000}")

        reported = Reported("disk is full")
        logging.getLogger("dbos").addHandler(reported)
        await asyncio.wait_for(reported.event.wait(), DEADLINE)
        logging.getLogger("dbos").removeHandler(reported)
        assert (await bench.engine.status(run)).state == "running"
        full = False

        assert (await bench.ended(run)).outputs == {"total": 40}
        assert bench.services.counts().most_common(1)[0][1] == 1, "no step was repeated"


async def test_changes_of_the_clock_end_no_question_early_and_no_wait_late(tmp_path: Path) -> None:
    clock = MovedClock()
    ask = {"type": "AskUser", "settings": {"message": "Well?", "deadline": 600}}
    wait = {"type": "Wait", "settings": {"seconds": 0.5}}
    async with opened(tmp_path, clock=clock) as bench:
        asking = await bench.engine.start(workflow({"ask": ask}, []))
        await bench.until(asking, "waiting")
        clock.moved = timedelta(days=1)
        waiting = await bench.engine.start(workflow({"wait": wait, "after": call()}, ["wait after"]))
        clock.moved = timedelta(days=-1)

        assert (await bench.ended(waiting)).state == "finished"
        await bench.engine.answer(asking, "ask", UserAnswer(choice="Approve"))
        assert (await bench.ended(asking)).state == "finished"


def test_two_processes_never_have_the_same_name_and_a_restart_has_a_new_one(tmp_path: Path) -> None:
    with take_slot(tmp_path) as first, take_slot(tmp_path) as second:
        assert first.name != second.name
    with take_slot(tmp_path) as again:
        assert again.name == first.name
        assert again.worker != first.worker
        assert again.is_earlier(first.worker)
        assert not again.is_earlier(second.worker)


def test_a_damaged_slot_gets_a_new_name(tmp_path: Path) -> None:
    (tmp_path / "worker-1").write_text("{")
    with take_slot(tmp_path) as slot:
        assert slot.generation == 1


@pytest.mark.acceptance
async def test_runs_wait_while_postgresql_is_stopped(tmp_path: Path) -> None:
    with running_postgres() as server:
        async with opened(tmp_path, url=server.url()) as bench:
            run = await bench.engine.start(chain(200, seconds=0.01))
            await called(bench)
            server.stop()
            await asyncio.sleep(10)
            server.start()

            assert (await bench.ended(run)).outputs == {"total": 200}
            assert bench.services.counts().most_common(1)[0][1] == 1, "no step was repeated"
