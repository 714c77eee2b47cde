from __future__ import annotations

import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.store.records import NOON, Noon
from toolcrib.store.database import open_database
from toolcrib.store.tool_history import ToolHistory
from toolcrib.tools.registry import Registry


def listed(name: str, **parts: Any) -> dict[str, Any]:
    return {"name": name, "description": "d", "inputSchema": {"type": "object"}, **parts}


async def test_a_definition_is_remembered_across_restarts(tmp_path: Path) -> None:
    clock = Noon()
    async with open_database(tmp_path / "toolcrib.db") as database:
        registry = Registry(history=await ToolHistory.open(database, clock=clock))
        registry.put("demo", "mcp", [listed("add")])
        first = registry.resolve("demo__add")
    clock.time += timedelta(days=1)

    async with open_database(tmp_path / "toolcrib.db") as database:
        registry = Registry(history=await ToolHistory.open(database, clock=clock))
        registry.put("demo", "mcp", [listed("add"), listed("divide")])

    again, new = registry.resolve("demo__add"), registry.resolve("demo__divide")
    assert first.history is not None
    assert again.history == first.history
    assert (again.history.first_seen, again.history.last_changed) == (NOON, NOON)
    assert again.history.previous_hash is None
    assert new.history is not None
    assert new.history.first_seen == NOON + timedelta(days=1)


async def test_a_change_is_dated_and_says_which_parts_differ(tmp_path: Path) -> None:
    clock = Noon()
    async with open_database(tmp_path / "toolcrib.db") as database:
        registry = Registry(history=await ToolHistory.open(database, clock=clock))
        registry.put("demo", "mcp", [listed("add", title="Add")])
        before = registry.resolve("demo__add")
    clock.time += timedelta(hours=1)

    async with open_database(tmp_path / "toolcrib.db") as database:
        registry = Registry(history=await ToolHistory.open(database, clock=clock))
        registry.put(
            "demo", "mcp", [listed("add", description="now evil", annotations={"readOnlyHint": True})]
        )
        after = registry.resolve("demo__add")

    assert after.history is not None
    assert after.history.first_seen == NOON
    assert after.history.last_changed == NOON + timedelta(hours=1)
    assert after.history.previous_hash == before.hash != after.hash
    assert after.history.changes == ("annotations", "description", "title")


async def test_servers_and_native_tools_have_histories_of_their_own(tmp_path: Path) -> None:
    async with open_database(tmp_path / "toolcrib.db") as database:
        history = await ToolHistory.open(database, clock=Noon())
        registry = Registry(history=history)
        registry.put("a", "mcp", [listed("x")])
        registry.put("b", "mcp", [listed("x", title="other")])
        registry.put(None, "native", [listed("x", title="native")])

        assert set(history.recall("a")) == set(history.recall("b")) == set(history.recall(None)) == {"x"}
        assert history.recall("c") == {}

    for name in ("a__x", "b__x", "x"):
        found = registry.resolve(name).history
        assert found is not None
        assert found.changes == ()


async def test_a_remembered_list_never_looks_like_a_change(tmp_path: Path) -> None:
    clock = Noon()
    async with open_database(tmp_path / "toolcrib.db") as database:
        registry = Registry(history=await ToolHistory.open(database, clock=clock))
        registry.put("demo", "mcp", [listed("add", title="new")])
        clock.time += timedelta(hours=1)

        registry.put("demo", "mcp", [listed("add", title="old")], stale=True)
        stale = registry.resolve("demo__add")
        registry.put("demo", "mcp", [listed("add", title="new")])
        fresh = registry.resolve("demo__add")

    assert stale.history is not None
    assert stale.history == fresh.history
    assert stale.history.last_changed == NOON


async def test_only_changes_are_written(tmp_path: Path) -> None:
    path = tmp_path / "toolcrib.db"
    async with open_database(path) as database:
        history = await ToolHistory.open(database, clock=Noon())
        registry = Registry(history=history)
        definitions = [listed(f"t{number}") for number in range(1000)]
        registry.put("demo", "mcp", definitions)
        before = await database.run(lambda connection: connection.total_changes)

        registry.put("demo", "mcp", [*definitions[:-1], listed("t999", title="new")])

        after = await database.run(lambda connection: connection.total_changes)
        assert history.errors == 0

    assert after - before == 1
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM tool_history").fetchone() == (1000,)


async def test_a_full_disk_costs_nobody_a_tool(tmp_path: Path) -> None:
    async with open_database(tmp_path / "toolcrib.db") as database:
        history = await ToolHistory.open(database, clock=Noon())
        registry = Registry(history=history)
        await database.run(lambda connection: connection.execute("PRAGMA max_page_count = 1").fetchone())

        registry.put("demo", "mcp", [listed(f"t{number}") for number in range(1000)])
        await database.run(lambda connection: None)

        assert len(registry.snapshot.enabled) == 1000
        assert database.waiting >= 1
