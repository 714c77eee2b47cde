"""Looks at runs, answers and cancels them without being a worker: nothing is started or taken over."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from dbos import DBOSClient

from toolcrib.clock import Clock, SystemClock
from toolcrib.config.database_key import Signer
from toolcrib.features.workflows.engine.database import Database
from toolcrib.features.workflows.engine.engine import Engine, family
from toolcrib.features.workflows.engine.patience import answered_in_time
from toolcrib.features.workflows.engine.queues import Queues
from toolcrib.features.workflows.engine.runtime import OnChange, Runtime
from toolcrib.features.workflows.ports import RunServices
from toolcrib.features.workflows.records import FINAL
from toolcrib.features.workflows.secret_inputs import NO_KEY, RunKey


class Viewer(Engine):
    """An engine that runs nothing; another process does."""

    @answered_in_time
    async def cancel(self, run: str) -> bool:
        if (await self.status(run)).state in FINAL:
            return False
        names = await self.database.run(lambda connection: family(connection, run))
        client = DBOSClient(
            system_database_engine=self.database.engine, serializer=self._runtime.serializer, lazy=True
        )
        await client.cancel_workflows_async(names)
        self._runtime.on_change(run, None)
        return True


@asynccontextmanager
async def open_viewer(
    folder: Path,
    *,
    url: str | None = None,
    signer: Signer | None = None,
    clock: Clock | None = None,
    on_change: OnChange = lambda run, step: None,
    key: RunKey = NO_KEY,
) -> AsyncIterator[Engine]:
    """The runs of a home folder, or of a PostgreSQL database."""
    database = Database(url or f"sqlite:///{folder / 'runs.sqlite'}")
    # Services are for workers.
    runtime = Runtime.over(
        database, clock or SystemClock(), cast("RunServices", cast("Any", None)), on_change, signer, key
    )
    try:
        await database.prepare()
        yield Viewer(runtime, Queues(worker_concurrency=1, polling=1.0))
    finally:
        database.close()
