"""Triggers of several hosts that share a PostgreSQL database."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.databases.postgres import postgres, postgres_url
from tests.features.workflows.automation.conftest import MONDAY, Automation, RecordedRuns
from toolcrib.config.database_key import Signer
from toolcrib.features.workflows.trigger_store import StoredTriggers
from toolcrib.store.database import open_database
from toolcrib.testing.clock import TurnedClock

__all__ = ["postgres", "postgres_url"]


@pytest.mark.acceptance
async def test_hosts_on_one_postgresql_start_each_moment_once(postgres_url: str, tmp_path: Path) -> None:
    clock, runs = TurnedClock(MONDAY), RecordedRuns(tmp_path / "runs.db")
    key = Signer.new()
    async with open_database(postgres_url, key) as one, open_database(postgres_url, key) as other:
        first, second = (Automation(StoredTriggers(database), runs, clock) for database in (one, other))
        await first.schedule("every 10 seconds", overlap="allow")
        second.workflows = first.workflows
        second.scheduler.wake()

        for _ in range(30):
            clock.turn(10.0)
            await asyncio.gather(first.scheduler.tick(), second.scheduler.tick())

        starts = await second.starts()
        await second.store.prune(clock.now(), [("other", "folder")])
        known = await first.store.known("report", "schedule")

    assert len(runs.runs) == len(starts) == 30
    assert runs.calls == 30
    assert {start.state for start in starts} == {"started"}
    assert len(known) < 30
