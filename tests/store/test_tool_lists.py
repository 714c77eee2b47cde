from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.store.records import NOON
from toolcrib.schema.servers import CachedTools
from toolcrib.store.database import open_database
from toolcrib.store.tool_lists import ToolLists

LIST = CachedTools(
    server="demo",
    fingerprint="f1",
    protocol="2025-11-25",
    version="1.0",
    definitions=({"name": "add", "unknown": {"kept": [1, None]}}, {"name": "été"}),
    saved_at=NOON,
)


async def test_a_list_comes_back_in_the_next_run_as_it_was(tmp_path: Path) -> None:
    async with open_database(tmp_path / "toolcrib.db") as database:
        lists = await ToolLists.open(database)
        lists.save(replace(LIST, version="0.9"))
        lists.save(LIST)
        lists.save(replace(LIST, server="other", version=None))
        assert lists.load("demo", "f1") is LIST

    async with open_database(tmp_path / "toolcrib.db") as database:
        lists = await ToolLists.open(database)

    assert lists.load("demo", "f1") == LIST
    assert lists.last("demo") == LIST
    assert lists.last("other") == replace(LIST, server="other", version=None)


async def test_another_entry_makes_a_list_worthless(tmp_path: Path) -> None:
    async with open_database(tmp_path / "toolcrib.db") as database:
        lists = await ToolLists.open(database)
        lists.save(LIST)

        assert lists.load("demo", "f2") is None
        assert lists.load("unknown", "f1") is None


async def test_a_forgotten_list_stays_forgotten(tmp_path: Path) -> None:
    async with open_database(tmp_path / "toolcrib.db") as database:
        lists = await ToolLists.open(database)
        lists.save(LIST)
        lists.forget("demo")
        lists.forget("unknown")
        assert lists.load("demo", "f1") is None

    async with open_database(tmp_path / "toolcrib.db") as database:
        assert (await ToolLists.open(database)).last("demo") is None


async def test_a_damaged_list_counts_as_none(tmp_path: Path) -> None:
    async with open_database(tmp_path / "toolcrib.db") as database:
        lists = await ToolLists.open(database)
        lists.save(LIST)
        lists.save(replace(LIST, server="other"))
        await database.run(
            lambda connection: connection.execute(
                "UPDATE tool_lists SET definitions = '[{' WHERE server = 'demo'"
            )
        )

        read = await ToolLists.open(database)

        assert read.last("demo") is None
        assert read.last("other") is not None


async def test_a_full_disk_is_counted(tmp_path: Path) -> None:
    async with open_database(tmp_path / "toolcrib.db") as database:
        lists = await ToolLists.open(database)
        await database.run(lambda connection: connection.execute("PRAGMA max_page_count = 1").fetchone())

        lists.save(replace(LIST, definitions=tuple({"name": "x" * 1000} for _ in range(1000))))
        await database.run(lambda connection: None)

        assert database.waiting == 1
        assert lists.load("demo", "f1") is not None
