"""Everything arrives in another database as it was, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.store.conftest import KEY
from tests.store.records import Noon, record
from toolcrib.agent.chat import Said
from toolcrib.schema.messages import FromUser, Text
from toolcrib.schema.tools import ToolDefinition
from toolcrib.store.audit import AuditLog
from toolcrib.store.chats import Chats
from toolcrib.store.connection import DatabaseConnection
from toolcrib.store.copying import PAGE, copied_tables, copy_all, count_rows
from toolcrib.store.database import open_database
from toolcrib.store.tables import Table
from toolcrib.store.tool_pins import ToolPins
from toolcrib.store.work_queue import AsyncDatabase

NAMES = ("plain", "lone\ud800surrogate", "nul\0inside")


async def fill(database: AsyncDatabase) -> None:
    """More calls than one page, a chat, and approvals of tools with odd names."""
    async with AuditLog(database, clock=Noon()) as audit:
        for number in range(PAGE + 3):
            audit.record(record(number, arguments=f'{{"n": {number}}}', error=None if number else "odd"))
    chats = Chats(database)
    chat = await chats.create("demo", title="Potatoes")
    chats.append(chat.id, 0, Said(FromUser(parts=(Text("How long do they boil?"),))))
    pins = await ToolPins.open(database, clock=Noon())
    pins.approve("s", [(ToolDefinition(name=name, raw={"name": name}), "h") for name in NAMES])
    await chats.flush()


def contents(table: Table, connection: DatabaseConnection) -> Sequence[Any]:
    columns = ", ".join(column for column in table.columns if column not in ("tool", "decided"))
    rows = connection.execute(f"SELECT {columns} FROM {table.name}").fetchall()
    return sorted(map(repr, rows))


async def everything(database: AsyncDatabase) -> dict[str, Sequence[Any]]:
    return {table.name: await database.run(lambda c, t=table: contents(t, c)) for table in copied_tables()}


async def test_everything_arrives_and_comes_back(tmp_path: Path, postgres_url: str) -> None:
    async with (
        open_database(tmp_path / "first.db") as first,
        open_database(postgres_url, KEY) as shared,
        open_database(tmp_path / "second.db") as second,
    ):
        await fill(first)

        copied = await copy_all(first, shared, "first", Noon())
        await copy_all(shared, second, "shared", Noon())

        assert {one.table: one.added for one in copied} == await first.run(count_rows)
        assert await everything(shared) == await everything(second) == await everything(first)
        assert [match.info.title for match in await Chats(shared).search("BOIL")] == ["Potatoes"]
        for database in (shared, second):
            pins = await ToolPins.open(database, clock=Noon())
            assert all(pins.pin("s", name) is not None for name in NAMES)


async def test_copying_twice_adds_nothing(tmp_path: Path, postgres_url: str) -> None:
    async with open_database(tmp_path / "first.db") as first, open_database(postgres_url, KEY) as shared:
        await fill(first)
        await copy_all(first, shared, "first", Noon())
        before = await shared.run(count_rows)

        again = await copy_all(first, shared, "first", Noon())

        assert [one.added for one in again] == [0] * len(copied_tables())
        assert await shared.run(count_rows) == before
