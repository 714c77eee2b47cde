"""A database that does not answer: requests of users fail in time, and background work survives."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.databases.postgres import PostgresProcess, postgres, postgres_url, running_postgres  # noqa: F401
from tests.features.workflows.engine.conftest import DEADLINE, OPTIONS, Bench
from tests.features.workflows.engine.sample_services import SampleServices
from tests.features.workflows.engine.sample_workflows import chain, workflow
from toolcrib.errors import DatabaseUnavailable
from toolcrib.features.workflows.engine import database, opening
from toolcrib.features.workflows.engine.opening import open_engine, open_viewer
from toolcrib.graph.node_type import UserAnswer

Soon = Callable[[], AbstractContextManager[None]]
ASK = {"type": "AskUser", "settings": {"message": "Well?"}}


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresProcess]:
    with running_postgres() as server:
        yield server


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> Callable[[], AbstractContextManager[None]]:
    """Requests in the block fail soon instead of after half a minute."""

    @contextmanager
    def block() -> Iterator[None]:
        with monkeypatch.context() as patch:
            patch.setattr(database, "PATIENCE", 1.0)
            patch.setattr(opening, "LONGEST_END", 0.5)
            yield

    return block


@asynccontextmanager
async def opened(folder: Path, url: str | None) -> AsyncIterator[Bench]:
    services, changed = SampleServices(folder / "calls"), asyncio.Event()
    async with open_engine(
        folder / "home", services, url=url, options=OPTIONS, on_change=lambda run, step: changed.set()
    ) as engine:
        yield Bench(engine, services, changed)


async def refused(request: Awaitable[Any]) -> str:
    """The message with which a request of a user fails."""
    with pytest.raises(DatabaseUnavailable) as caught:
        await asyncio.wait_for(request, DEADLINE)
    assert "database server is running" in caught.value.hint
    return str(caught.value)


@contextmanager
def locked(url: str, table: str) -> Iterator[None]:
    """Another session has the table for itself."""
    with psycopg.connect(url) as connection:
        connection.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE".encode())
        yield


def idle_processes(server: PostgresProcess) -> list[int]:
    """The server's processes for our connections; they hold nothing that others need."""
    query = (
        b"SELECT pid FROM pg_stat_activity WHERE application_name = 'toolcrib-workflows' AND state = 'idle'"
    )
    with psycopg.connect(server.url()) as connection:
        return [row[0] for row in connection.execute(query)]


async def waiting_for_lock(url: str) -> None:
    """Until a session waits for a lock that another one has."""
    query = b"SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with psycopg.connect(url, autocommit=True) as connection:
        async with asyncio.timeout(DEADLINE):
            while await asyncio.to_thread(lambda: connection.execute(query).fetchone()) == (0,):
                pass


async def test_all_requests_end_while_the_server_is_silent_and_runs_go_on_afterwards(
    tmp_path: Path, server: PostgresProcess, soon: Soon
) -> None:
    async with opened(tmp_path, server.url(schema="all")) as bench:
        engine = bench.engine
        asking = await engine.start(workflow({"ask": ASK}, []), run_id="asking")
        await bench.until(asking, "waiting")
        long = await engine.start(chain(60, seconds=0.01), run_id="long")
        await asyncio.wait_for(bench.services.called.wait(), DEADLINE)
        with server.frozen(), soon():
            requests = [
                engine.start(chain(1), run_id="late"),
                engine.rerun(asking),
                engine.runs(),
                engine.status(asking),
                engine.steps(asking),
                engine.trace(asking, "ask"),
                engine.inputs(asking),
                engine.questions(asking),
                engine.answer(asking, "ask", UserAnswer(choice="Approve")),
                engine.pause(asking),
                engine.cancel(asking),
                engine.send_event(asking, "go"),
                engine.wait("asking", 1.0),
            ]
            messages = await asyncio.gather(*map(refused, requests))
            assert all("cannot be used" in message for message in messages)

        await engine.answer(asking, "ask", UserAnswer(choice="Approve"))
        assert (await bench.ended(asking)).state == "finished"
        assert (await bench.ended(long)).outputs == {"total": 60}
        assert len(bench.calls(long)) == 60, "no step was repeated or lost"


@pytest.mark.acceptance
async def test_nothing_opens_on_a_silent_server_and_an_open_engine_can_be_closed(
    tmp_path: Path, server: PostgresProcess, soon: Soon
) -> None:
    async with AsyncExitStack() as stack:
        bench = await stack.enter_async_context(opened(tmp_path, server.url(schema="opening")))
        await bench.finished(chain(1))
        with server.frozen(), soon():
            await asyncio.wait_for(stack.aclose(), DEADLINE)
            await refused(open_viewer(tmp_path, url=server.url(schema="opening")).__aenter__())
            await refused(opened(tmp_path, server.url(schema="opening")).__aenter__())


async def test_a_request_is_tried_on_another_connection_if_one_is_silent(
    tmp_path: Path, server: PostgresProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "FIRST_LIMIT", 0.5)
    async with open_viewer(tmp_path, url=server.url(schema="one")) as viewer:
        assert await viewer.runs() == []
        with server.frozen(idle_processes(server)):
            assert await asyncio.wait_for(viewer.runs(), DEADLINE) == []


@pytest.mark.acceptance
async def test_requests_fail_while_a_table_is_locked_and_nothing_of_them_happens_later(
    tmp_path: Path,
    postgres_url: str,  # noqa: F811
    soon: Soon,
) -> None:
    async with opened(tmp_path, postgres_url) as bench:
        asking = await bench.engine.start(workflow({"ask": ASK}, []))
        await bench.until(asking, "waiting")
        with locked(postgres_url, "crib_waits"), soon():
            await refused(bench.engine.status(asking))
        with locked(postgres_url, "crib_runs"), soon():
            await refused(bench.engine.start(chain(1), run_id="late"))
            await refused(bench.engine.pause(asking))
        await bench.finished(chain(2))

        assert {record.run for record in await bench.engine.runs()} >= {asking}
        assert "late" not in {record.run for record in await bench.engine.runs()}
        assert (await bench.engine.status(asking)).state == "waiting"


async def test_a_run_that_waits_for_a_locked_table_goes_on_when_it_is_free(
    tmp_path: Path,
    postgres_url: str,  # noqa: F811
) -> None:
    async with opened(tmp_path, postgres_url) as bench:
        run = await bench.engine.start(chain(30, seconds=0.01))
        await asyncio.wait_for(bench.services.called.wait(), DEADLINE)
        with locked(postgres_url, f"{bench.engine.database.schema}.operation_outputs"):
            await waiting_for_lock(postgres_url)

        assert (await bench.ended(run)).outputs == {"total": 30}
        assert len(bench.calls(run)) == 30


async def test_requests_fail_while_sqlite_is_locked_and_nothing_of_them_happens_later(
    tmp_path: Path, soon: Soon
) -> None:
    async with opened(tmp_path, None) as bench:
        asking = await bench.engine.start(workflow({"ask": ASK}, []))
        await bench.until(asking, "waiting")
        other = sqlite3.connect(tmp_path / "home" / "runs.sqlite", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with soon():
            await refused(bench.engine.start(chain(1), run_id="late"))
            await refused(bench.engine.answer(asking, "ask", UserAnswer(choice="Approve")))
        assert [record.run for record in await bench.engine.runs()] == [asking], "reading needs no lock"
        other.execute("ROLLBACK")
        other.close()
        await bench.finished(chain(2))

        assert "late" not in {record.run for record in await bench.engine.runs()}
        assert (await bench.engine.status(asking)).state == "waiting"
