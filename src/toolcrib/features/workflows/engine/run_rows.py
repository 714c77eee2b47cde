"""The rows of runs in our own table."""

from __future__ import annotations

import json
from collections.abc import Iterable

from toolcrib.features.workflows.engine.database import Database, insert_once
from toolcrib.features.workflows.engine.tables import runs


async def insert_run(
    database: Database,
    run: str,
    workflow: str,
    created: float,
    *,
    parent: str | None = None,
    from_run: str | None = None,
    breakpoints: Iterable[str] = (),
) -> bool:
    """Whether it is new."""
    values = {
        "run": run,
        "workflow": workflow,
        "parent": parent,
        "from_run": from_run,
        "created": created,
        "paused": False,
        "breakpoints": json.dumps(sorted(set(breakpoints))),
        "paused_at": "[]",
        "passed": "[]",
    }
    return await database.run(lambda connection: insert_once(connection, runs, **values))
