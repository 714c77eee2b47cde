from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from tests.store.records import NOON, Noon, record
from toolcrib.store.audit import AuditLog
from toolcrib.store.database import AsyncDatabase, open_database


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "toolcrib.db"


@pytest.fixture
async def database(path: Path) -> AsyncIterator[AsyncDatabase]:
    async with open_database(path) as opened:
        yield opened


def on_disk(path: Path) -> int:
    """How many records another process would see."""
    with sqlite3.connect(path) as connection:
        count: int = connection.execute("SELECT count(*) FROM calls").fetchone()[0]
        return count


async def until_on_disk(database: AsyncDatabase, count: int) -> None:
    """Wait for a number of records, giving the writer a turn between two looks."""
    async with asyncio.timeout(60):
        while on_disk(database.path) != count:
            await database.run(lambda connection: None)


async def test_records_come_back_as_they_were_newest_first(database: AsyncDatabase) -> None:
    full = record(
        1,
        session="s1",
        outcome="failed",
        error="peer_error: no",
        extra={"rule": "x", "n": 1},
        server=None,
        tool="grep",
        ms=0.125,
        bytes=10**12,
    )
    async with AuditLog(database, clock=Noon()) as audit:
        for one in (record(0), full, record(-5)):
            audit.record(one)

        assert await audit.query() == [full, record(0), record(-5)]
        assert await audit.query(1) == [full]


async def test_a_record_is_on_disk_soon_without_anyone_asking(database: AsyncDatabase) -> None:
    async with AuditLog(database, clock=Noon()) as audit:
        audit.record(record())

        await until_on_disk(database, 1)


async def test_many_records_are_written_in_one_commit(database: AsyncDatabase, path: Path) -> None:
    statements: list[str] = []
    async with AuditLog(database, clock=Noon()) as audit:
        await database.run(lambda connection: connection.set_trace_callback(statements.append))
        for number in range(1000):
            audit.record(record(number))
        assert on_disk(path) == 0

        await until_on_disk(database, 1000)

    assert statements.count("COMMIT") == 1


@pytest.mark.parametrize("count", [1, 127, 128, 129, 300])
async def test_however_many_there_are_each_is_written_once(database: AsyncDatabase, count: int) -> None:
    async with AuditLog(database, clock=Noon()) as audit:
        for number in range(count):
            audit.record(record(number))

        assert await audit.query(count + 1) == [record(number) for number in reversed(range(count))]


async def test_everything_is_on_disk_once_the_log_is_closed(database: AsyncDatabase, path: Path) -> None:
    async with AuditLog(database, clock=Noon(), flush_after=3600) as audit:
        for number in range(10):
            audit.record(record(number))

    assert on_disk(path) == 10
    assert (audit.errors, audit.lost) == (0, 0)


async def test_a_full_queue_is_written_at_once(database: AsyncDatabase, path: Path) -> None:
    async with AuditLog(database, clock=Noon(), flush_after=3600, batch=10) as audit:
        for number in range(15):
            audit.record(record(number))
        await until_on_disk(database, 10)

        assert len(await audit.query()) == 15


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"tool": "fs__read"}, [2]),
        ({"server": "demo"}, [3, 1, 0]),
        ({"principal": "agent"}, [3]),
        ({"outcome": "denied"}, [1]),
        ({"since": NOON + timedelta(seconds=2)}, [3, 2]),
        ({"server": "demo", "since": NOON + timedelta(seconds=1)}, [3, 1]),
        ({"server": "demo' OR 1=1 --"}, []),
    ],
)
async def test_a_query_is_narrowed_by_its_filters(
    database: AsyncDatabase, filters: dict[str, str], expected: list[int]
) -> None:
    async with AuditLog(database, clock=Noon()) as audit:
        audit.record(record(0))
        audit.record(record(1, outcome="denied"))
        audit.record(record(2, tool="fs__read", server="fs"))
        audit.record(record(3, principal="agent"))

        found = await audit.query(**filters)  # type: ignore[arg-type]

    assert [one.call_id for one in found] == [f"c-{number}" for number in expected]


async def test_records_older_than_the_log_is_kept_are_deleted(database: AsyncDatabase, path: Path) -> None:
    clock = Noon()
    async with AuditLog(database, days=30, clock=clock) as audit:
        for day in reversed(range(20)):
            audit.record(record(-day * 86_400))
        await audit.flush()
        assert await audit.prune() == 0
        clock.time += timedelta(days=20)

        assert await audit.prune() == 9

    assert on_disk(path) == 11


async def test_old_records_go_by_themselves_when_the_log_is_opened(database: AsyncDatabase) -> None:
    async with AuditLog(database, days=90, clock=Noon()) as audit:
        for day in (-50, -25, 0):
            audit.record(record(day * 86_400))

    async with AuditLog(database, days=30, clock=Noon()):
        await until_on_disk(database, 2)


async def fill_disk(database: AsyncDatabase) -> None:
    """Allow the file no more pages than it has: what a full disk does."""
    await database.run(lambda connection: connection.execute("PRAGMA max_page_count = 1").fetchone())


async def make_room(database: AsyncDatabase) -> None:
    await database.run(lambda connection: connection.execute("PRAGMA max_page_count = 1000000").fetchone())


async def test_a_full_disk_is_counted_and_no_caller_notices(database: AsyncDatabase) -> None:
    async with AuditLog(database, clock=Noon()) as audit:
        await fill_disk(database)
        for number in range(500):
            audit.record(record(number, arguments="x" * 2000))
        await audit.flush()

        assert audit.errors == 1
        assert "full" in str(audit.last_error)
        assert audit.lost == 0

        await make_room(database)
        assert len(await audit.query(1000)) == 500


async def test_what_cannot_be_written_is_given_up_aloud_and_bounded(
    database: AsyncDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    async with AuditLog(database, clock=Noon(), capacity=100, flush_after=3600) as audit:
        await fill_disk(database)
        for number in range(1050):
            audit.record(record(number, arguments="x" * 2000))

    assert audit.lost == 1050
    assert audit.errors >= 1
    assert "records were lost" in caplog.text


async def test_a_record_with_half_a_character_is_written_too(database: AsyncDatabase) -> None:
    async with AuditLog(database, clock=Noon()) as audit:
        audit.record(record(0, tool="a\ud800b", error="é\udfff", principal="\ud800"))

        [found] = await audit.query()

    assert (found.tool, found.error, found.principal) == ("a?b", "é?", "?")


async def test_two_writers_may_share_one_file(path: Path) -> None:
    async def write(name: str) -> None:
        async with open_database(path) as database, AuditLog(database, clock=Noon()) as audit:
            for number in range(200):
                audit.record(record(number, principal=name))
                await asyncio.sleep(0)
            assert audit.errors == 0

    await asyncio.gather(write("one"), write("two"))

    assert on_disk(path) == 400


HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
connection.execute("ROLLBACK")
"""


@contextlib.asynccontextmanager
async def held(path: Path) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Another process holds the database until the given function is called."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLD, str(path), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    await process.stdout.readline()

    async def let_go() -> None:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()

    try:
        yield let_go
    finally:
        await let_go()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(0.01)


async def test_a_locked_database_stops_nobody_and_loses_nothing(database: AsyncDatabase, path: Path) -> None:
    async with AuditLog(database, clock=Noon(), batch=100) as audit:
        async with held(path) as let_go:
            for number in range(5_000):
                audit.record(record(number))
                if number % 100 == 0:
                    # A turn of the loop after each hundred; none of them waits for the database.
                    await asyncio.sleep(0)
            await until(lambda: audit.errors > 0)
            assert audit.waiting > 0
            assert on_disk(path) == 0
            await let_go()
        await audit.flush()
        await until(lambda: audit.waiting == 0)
        times = [found.time for found in await audit.query(10_000)]
        assert audit.lost == 0
    assert len(times) == 5_000
    ids = sqlite3.connect(path).execute("SELECT time FROM calls ORDER BY id").fetchall()
    assert ids == sorted(ids)


async def test_what_a_lock_held_back_is_written_at_the_end(database: AsyncDatabase, path: Path) -> None:
    async with contextlib.AsyncExitStack() as stack:
        audit = await stack.enter_async_context(AuditLog(database, clock=Noon()))
        let_go = await stack.enter_async_context(held(path))
        for number in range(10):
            audit.record(record(number))
        await until(lambda: audit.errors > 0)
        await let_go()
    assert on_disk(path) == 10
    assert audit.lost == 0


async def test_the_end_waits_for_a_lock_only_so_long(
    database: AsyncDatabase, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcrib.store.audit.CLOSE_SECONDS", 0.2)
    async with held(path), AuditLog(database, clock=Noon()) as audit:
        for number in range(10):
            audit.record(record(number))
    assert audit.lost == 10


async def test_more_than_there_is_room_for_is_lost_and_counted(database: AsyncDatabase, path: Path) -> None:
    async with AuditLog(database, clock=Noon(), capacity=50, batch=10) as audit:
        async with held(path):
            for number in range(30):
                audit.record(record(number))
            await until(lambda: audit.waiting == 30)
            for number in range(30, 100):
                audit.record(record(number))
            assert audit.lost == 50
        await until(lambda: audit.waiting == 0)
        kept = await audit.query(1000)
    assert [found.time for found in reversed(kept)] == [record(number).time for number in range(50)]


async def test_a_jump_of_the_clock_deletes_nothing(database: AsyncDatabase, path: Path) -> None:
    clock = Noon()
    async with AuditLog(database, days=90, clock=clock) as audit:
        for day in range(60):
            audit.record(record(-day * 86_400))
        await audit.flush()
        clock.time += timedelta(days=400)
        assert await audit.prune() == 0
        audit.record(record(400 * 86_400))  # with the wrong clock
        await audit.flush()
        assert await audit.prune() == 0
        clock.time -= timedelta(days=400)
        assert await audit.prune() == 0
    assert on_disk(path) == 61


async def test_records_made_while_the_clock_was_ten_years_behind_are_kept(
    database: AsyncDatabase, path: Path
) -> None:
    async with AuditLog(database, days=90, clock=Noon()) as audit:
        for day in reversed(range(60)):
            audit.record(record(-day * 86_400))
        for second in range(10):
            audit.record(record(second - 3650 * 86_400))
        audit.record(record(0))  # the clock is right again
        await audit.flush()
        assert await audit.prune() == 0
    assert on_disk(path) == 71


async def test_after_a_long_pause_old_records_go_once_the_clock_was_right_for_long(
    database: AsyncDatabase,
) -> None:
    async with AuditLog(database, days=90, clock=Noon()) as audit:
        audit.record(record(-100 * 86_400))
        for day in range(35):
            audit.record(record(-day * 86_400))
        await audit.flush()
        await audit.prune()
        assert on_disk(database.path) == 35
