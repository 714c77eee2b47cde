"""Triggers and starts that were written to a shared database by someone without its key."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.databases.postgres import postgres, postgres_url
from toolcrib.config.database_key import Signer
from toolcrib.features.workflows.trigger_store import Activation, StoredTriggers
from toolcrib.features.workflows.trigger_type import TriggerOccurrence, TriggerResult
from toolcrib.store.connection import DatabaseConnection
from toolcrib.store.database import AsyncDatabase, open_database

__all__ = ["postgres", "postgres_url"]

NOW = datetime(2030, 1, 7, tzinfo=UTC)
HOOK = Activation(
    workflow="report",
    trigger="webhook",
    on=True,
    fingerprint="f",
    since=NOW,
    position="",
    machine="m",
    hook="h",
    token_hash="t",
)
START = TriggerResult(occurrences=(TriggerOccurrence(id="o", due=NOW, event={"n": 1}),))


async def execute(database: AsyncDatabase, statement: str, *values: Any) -> None:
    def work(connection: DatabaseConnection) -> None:
        connection.execute(statement, values)

    await database.run(work)


@pytest.mark.parametrize("change", ["active = 1", "token_hash = 'mine'", "fingerprint = 'g'", "hook = 'i'"])
async def test_a_changed_trigger_is_off(postgres_url: str, change: str) -> None:
    async with open_database(postgres_url, Signer.new()) as database:
        store = StoredTriggers(database)
        await store.turn_on(HOOK, TriggerResult())
        assert await store.by_hook("h") == HOOK
        assert await store.turn_off("report", "webhook")
        assert [each.on for each in await store.activations()] == [False]

        await execute(database, f"UPDATE workflow_triggers SET {change}")

        assert await store.activations() == []
        assert await store.by_hook("h") is await store.by_hook("i") is None


@pytest.mark.parametrize("change", ["event = '{}'", "workflow = 'other'", "decided = ''"])
async def test_a_changed_start_is_not_started(postgres_url: str, change: str) -> None:
    async with open_database(postgres_url, Signer.new()) as database:
        store = StoredTriggers(database)
        await store.turn_on(HOOK, START)
        later = NOW + timedelta(hours=1)
        (pending,) = await store.pending("report", "webhook", later, 10)
        assert pending.event == {"n": 1}

        await execute(database, f"UPDATE workflow_starts SET {change}")

        found = [await store.pending(name, "webhook", later, 10) for name in ("report", "other")]
        assert found == [[], []]
