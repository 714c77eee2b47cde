"""Calls that must not be repeated are recorded before they begin, and only by the worker that has the run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import sqlalchemy as sa

from tests.databases.postgres import postgres, postgres_url  # noqa: F401
from toolcrib.clock import SystemClock
from toolcrib.features.workflows.engine.database import RunDatabase
from toolcrib.features.workflows.engine.dbos_internals import DBOSWorkflowConflictIDError, SystemSchema
from toolcrib.features.workflows.engine.runtime import CallGuard
from toolcrib.features.workflows.engine.serializer import JsonSerializer
from toolcrib.features.workflows.engine.tables import begun
from toolcrib.features.workflows.engine.waits import TakenEvent, WaitKey, Waits, _take

status = SystemSchema.workflow_status
RUN = "run"
DEADLINE = 60.0


@pytest_asyncio.fixture(params=["sqlite", "postgresql"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RunDatabase]:
    """With one run, of the worker `mine`."""
    on_sqlite = request.param == "sqlite"
    url = f"sqlite:///{tmp_path / 'runs.sqlite'}" if on_sqlite else request.getfixturevalue("postgres_url")
    database = await prepared(url)
    yield database
    database.close()


async def prepared(url: str) -> RunDatabase:
    database = RunDatabase(url)
    await database.prepare()
    values = {"workflow_uuid": RUN, "status": "PENDING", "name": "any", "owner_xid": "mine", "priority": 0}
    values |= {"created_at": 1, "updated_at": 1}
    await database.run(lambda connection: connection.execute(status.insert().values(values)))
    return database


def guard(database: RunDatabase, owner: str | None = "mine") -> CallGuard:
    return CallGuard(database, SystemClock(), RUN, owner)


async def recorded(database: RunDatabase) -> list[tuple[str, int, str]]:
    query = sa.select(begun.c.step, begun.c.number, begun.c.tool).order_by(begun.c.step, begun.c.number)
    return await database.run(lambda connection: [(*row,) for row in connection.execute(query)])


async def test_a_call_that_began_is_found_by_the_next_process(database: RunDatabase) -> None:
    await guard(database).begin("one", "pay")
    second = guard(database)
    await second.load()
    await second.begin("one", "send")

    assert second.unfinished("one") == ["pay"]
    assert await recorded(database) == [("one", 1, "pay"), ("one", 2, "send")]


@pytest.mark.parametrize("owner", ["another", None])
async def test_a_worker_that_lost_the_run_begins_nothing(database: RunDatabase, owner: str | None) -> None:
    with pytest.raises(DBOSWorkflowConflictIDError):
        await guard(database, owner).begin("one", "pay")

    assert await recorded(database) == []


async def test_a_worker_that_lost_the_run_removes_no_record_of_the_one_that_has_it(
    database: RunDatabase,
) -> None:
    await guard(database).begin("one", "pay")
    former = guard(database, "another")

    await former.load()
    with pytest.raises(DBOSWorkflowConflictIDError):
        await former.take_back("one")
    await former.load()
    with pytest.raises(DBOSWorkflowConflictIDError):
        await former.clear("one")

    assert await recorded(database) == [("one", 1, "pay")]


async def test_a_call_of_a_run_that_was_removed_does_not_begin(database: RunDatabase) -> None:
    await database.run(lambda connection: connection.execute(status.delete()))

    with pytest.raises(DBOSWorkflowConflictIDError):
        await guard(database).begin("one", "pay")


async def test_a_record_whose_commit_was_not_answered_is_found_again(database: RunDatabase) -> None:
    await guard(database).begin("one", "pay")
    await guard(database).begin("one", "pay")

    assert await recorded(database) == [("one", 1, "pay")]


async def test_a_call_waits_for_a_take_over_that_is_not_committed_and_then_does_not_begin(
    postgres_url: str,  # noqa: F811
) -> None:
    database = await prepared(postgres_url)
    other = database.engine.execution_options(schema_translate_map={status.schema: database.schema})
    with other.begin() as connection:
        connection.execute(sa.update(status).values(owner_xid="another"))
        beginning = asyncio.create_task(guard(database).begin("one", "pay"))
        await waiting_for_lock(database)
        assert not beginning.done()

    with pytest.raises(DBOSWorkflowConflictIDError):
        await asyncio.wait_for(beginning, DEADLINE)
    assert await recorded(database) == []
    database.close()


async def test_the_record_of_a_call_takes_one_statement(database: RunDatabase) -> None:
    calls = guard(database)
    await calls.begin("first", "pay")
    statements: list[str] = []

    @sa.event.listens_for(database.engine, "before_cursor_execute")
    def count(_: object, cursor: object, statement: str, *rest: object) -> None:
        statements.append(statement)

    await calls.begin("second", "pay")

    assert len(statements) == 1


async def waiting_for_lock(database: RunDatabase) -> None:
    query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    async with asyncio.timeout(DEADLINE):
        while not await database.run(lambda connection: connection.exec_driver_sql(query).scalar()):
            pass


async def test_an_event_that_was_taken_at_the_deadline_is_not_lost(database: RunDatabase) -> None:
    """The attempt that took it was given up, but its commit was under way."""
    serializer, loop, writes = JsonSerializer(), asyncio.get_running_loop(), asyncio.Event()
    waits = Waits(database, SystemClock(), serializer)
    wait = await waits.open(WaitKey(RUN, "wait", 1), RUN, "event", {"name": "paid"}, DEADLINE)
    await waits.send(RUN, "paid", '{"id": 7}', "")

    def note(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("UPDATE"):
            loop.call_soon_threadsafe(writes.set)

    with database.engine.connect() as given_up:
        taken = _take(given_up, serializer, wait, RUN, "paid")
        sa.event.listen(database.engine, "before_cursor_execute", note)
        again = asyncio.create_task(waits._taken(wait, RUN, "paid", over=True))
        async with asyncio.timeout(DEADLINE):
            await writes.wait()
        given_up.commit()

    assert await again == taken == TakenEvent({"id": 7}, "")
